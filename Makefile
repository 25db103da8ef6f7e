# make demo    from nothing to a tracked movie
# make test    everything that must hold: lint, types, import contract, the core's invariants, tests
# make wheel   one wheel, for this Python, in dist/
# make docs    the site, in site/
# make check-core, make readers, make sanitize, make compilers, make fuzz, make benchmark: see below
# make paper   the paper's experiment, whole, from annotated movies: a table, figures and a page in paper/

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install --disable-pip-version-check -q --no-compile -c constraints.txt
CORE   := pyproject.toml constraints.txt CMakeLists.txt $(wildcard cpp/* cpp/*/*)
BUILD  := "scikit-build-core>=1.0" "nanobind>=3.0" cmake ninja "setuptools>=70.1" wheel

# Python files are compiled where they are imported, once: most files of the packages never are.
export PYTHONDONTWRITEBYTECODE =

# Real annotated movies, where they lie beside the project; tests that need them are skipped elsewhere.
ifneq ($(wildcard ../shared/data),)
export DUNNO_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test wheel sdist docs figures paper lint types contract tests check-core readers sanitize compilers fuzz stub format benchmark clean

demo: $(VENV)/.installed
	$(BIN)/dunno demo

# First what one core can do, two at a time: both builds of the core are made while packages are installed. The tests have
# all cores to themselves.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
test:
	$(MAKE) -j2 $(SYNC) --no-print-directory lint types contract check-core readers
	$(MAKE) --no-print-directory tests

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/ruff check src tests benchmarks docs

types: $(VENV)/.installed-test
	$(BIN)/mypy

contract: $(VENV)/.installed-test
	$(BIN)/lint-imports

# A worker per core, up to eight, each with one thread. Neighbouring tests stay together, so what a module or a folder shares is
# made once or twice.
tests: export OMP_NUM_THREADS = 1
tests: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal

# The core's tests once more, on a build that asserts duals and sums after every step.
check-core: $(VENV)/.installed-test build/check/.installed
	DUNNO_EXAMPLES=0.3 build/check/bin/python -m pytest -q tests/assignment

# Other tools read what dunno writes, in an environment of their own, where the versions that they pin come first.
readers: build/readers/.installed
	DUNNO_READERS=1 OMP_NUM_THREADS=1 build/readers/bin/python -m pytest -q -m readers tests/io tests/runs

# And on one with the address and undefined-behaviour sanitizers, with damaged files too. Python itself is not built with them, so their libraries
# come first; what Python leaves unfreed at its end is not looked at, and pyehm, which does not survive it, is left out.
PRELOAD = $(foreach name,asan ubsan stdc++,$(shell $(CXX) -print-file-name=lib$(name).so))
sanitize: $(VENV)/.installed-test build/sanitize/.installed
	DUNNO_EXAMPLES=0.1 ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(PRELOAD)" build/sanitize/bin/python -m pytest -q \
	  tests/assignment tests/io/test_fuzz.py --deselect tests/assignment/test_marginals.py::test_pyehm_agrees_where_nobody_divides

# Other people's compilers: both must take the core without a warning.
compilers: $(VENV)/.made
	for compiler in $(COMPILERS); do \
	  command -v $$compiler >/dev/null || { echo "$$compiler is not there; skipped"; continue; }; \
	  PATH="$(abspath $(BIN)):$$PATH" CXX=$$compiler $(BIN)/pip wheel -q --no-build-isolation --no-deps -w build/$$compiler \
	    $(DEFINE).CMAKE_CXX_FLAGS=-Werror --config-settings build-dir=build/$$compiler-cmake . || exit 1; \
	  echo "$$compiler: no warnings"; \
	done
COMPILERS ?= g++ clang++

# One wheel, for the Python of $(VENV). From 3.12 on it serves every later version too (the stable ABI).
wheel: $(VENV)/.made
	rm -f dist/*.whl
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w dist .
	@echo "dist/: $$(cd dist && echo *.whl)"

# The source, packed; tests/test_package.py builds a wheel from it.
sdist: $(VENV)/.made
	rm -f dist/*.tar.gz
	$(BIN)/python -c "from scikit_build_core.build import build_sdist; print('dist/:', build_sdist('dist'))"

# The site: no network, no fonts or scripts from elsewhere. Begin with site/index.html.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.installed-docs
	$(BIN)/python -m mkdocs build -q --clean
	@echo "the site is in site/; open site/index.html, or: $(BIN)/python -m http.server -d site"

# The figures of README and of the first pages, made anew.
figures: $(VENV)/.installed-test
	$(BIN)/python docs/figures/make_first_look.py
	$(BIN)/python docs/figures/make_gallery.py

# The paper's experiment on the eight datasets of docs/benchmark; what a stopped run has done is not done again. AGAIN=JP measures
# that method's rows again. Models that are in benchmarks/models are used, others trained.
PAPER ?= paper
PAPERS := BF-C2DL-HSC,BF-C2DL-MuSC,Cglut-2min,DIC-C2DH-HeLa,Fluo-N2DL-HeLa,Migration,PhC-C2DL-PSC,iPSC-07
paper: export OMP_NUM_THREADS = 1
paper: $(VENV)/.installed-test
	$(BIN)/dunno benchmark $(DUNNO_DATA) -o $(PAPER) --datasets $(PAPERS) --setup paper,user --costs activity,distance,overlap \
	  --train 0.125,0.25,0.5 --models benchmarks/models --methods SM,FP,FP+A,AS,MC,JP,trackpy,LapTrack,Trackastra --again "$(AGAIN)"
	$(BIN)/python docs/benchmark/make_tables.py $(PAPER)

# Many more damaged files of all forms than the tests try: for so many MINUTES in all, other ones with each SEED; FORMS=cellpose
# chooses some. With the sanitizers as well: make sanitize.
MINUTES ?= 60
SEED ?= 1
FORMS ?=
FUZZ = DUNNO_FUZZ_MINUTES=$(MINUTES) DUNNO_FUZZ_SEED=$(SEED) OMP_NUM_THREADS=1
fuzz: $(VENV)/.installed-test
	$(FUZZ) $(BIN)/python -m pytest -q -s -p no:logging tests/io/test_fuzz.py -k "$(FORMS)"

# The stub of the C++ core, after its bindings changed.
stub: $(VENV)/.installed-test
	$(BIN)/python -m nanobind.stubgen -q -m dunno._core -o src/dunno/_core.pyi

format: $(VENV)/.installed-test
	$(BIN)/ruff format src tests benchmarks docs
	$(BIN)/ruff check --fix src tests benchmarks docs
	$(BIN)/python docs/tidy.py *.md docs/*.md docs/*/*.md

benchmark: $(VENV)/.installed-benchmark
	$(BIN)/python -m benchmarks.solve
	$(BIN)/python -m benchmarks.k_best
	$(BIN)/python -m benchmarks.marginals
	$(BIN)/python -m benchmarks.track
	$(BIN)/python -m benchmarks.review

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(BUILD)
	touch $@

# Editable, so that Python files need no new install; the C++ core is built anew when it changes.
# What it needs is fetched while it is compiled.
NEEDED = $(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'])"
$(VENV)/.installed: $(VENV)/.made $(CORE)
	$(PIP) $$($(NEEDED)) & $(PIP) --no-build-isolation --no-deps -e . && wait $$!
	touch $@

$(VENV)/.installed-test: $(VENV)/.made $(CORE)
	$(PIP) --no-build-isolation -e ".[all,transformer,test,oracles,docs]"
	touch $@ $(VENV)/.installed $(VENV)/.installed-docs

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) --no-build-isolation -e ".[docs]"
	touch $@

$(VENV)/.installed-benchmark: $(VENV)/.installed-test
	$(PIP) --no-build-isolation -e ".[all,transformer,test,oracles,benchmark]"
	touch $@

# Other builds of the core, each in an environment that borrows the packages of the first: installed beside the
# editable dunno they would not be found.
DEFINE = --config-settings cmake.define
build/check/.installed: SETTINGS = $(DEFINE).DUNNO_CHECK=ON $(DEFINE).CMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG"
build/sanitize/.installed: SETTINGS = \
  $(DEFINE).CMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -g"
build/%/.installed: $(VENV)/.made $(CORE) $(shell find src -name "*.py")
	$(PYTHON) -m venv --without-pip build/$*
	site() { $$1/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))"; }; \
	  site $(abspath $(VENV)) > "$$(site build/$*)/borrowed.pth"
	$(BIN)/pip --python build/$*/bin/python install --disable-pip-version-check -q --no-compile --no-build-isolation --no-deps \
	  --force-reinstall $(SETTINGS) --config-settings build-dir=build/$*-cmake .
	touch $@

READERS = $(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['readers'])"
build/readers/.installed: $(VENV)/.installed-test
	$(PYTHON) -m venv --clear --without-pip build/readers
	site() { $$1/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))"; }; \
	  echo "import site; site.addsitedir('$$(site $(abspath $(VENV)))')" > "$$(site build/readers)/borrowed.pth"
	$(subst pip install,pip --python build/readers/bin/python install,$(PIP)) $$($(READERS))
	touch $@

clean:
	rm -rf $(VENV) build dist site dunno-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
