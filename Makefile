# make demo    from nothing to a tracked movie
# make test    everything that must hold: lint, types, import contract, the core's invariants, tests
# make check-core, make sanitize, make fuzz, make benchmark: see below

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install --disable-pip-version-check -q --no-compile -c constraints.txt
CORE   := pyproject.toml constraints.txt CMakeLists.txt $(wildcard cpp/* cpp/*/*)
BUILD  := "scikit-build-core>=1.0" "nanobind>=3.0" cmake ninja

# Python files are compiled where they are imported, once: most files of the packages never are.
export PYTHONDONTWRITEBYTECODE =

# Real annotated movies, where they lie beside the project; tests that need them are skipped elsewhere.
ifneq ($(wildcard ../shared/data),)
export DUNNO_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test lint types contract tests check-core sanitize fuzz stub format benchmark clean

demo: $(VENV)/.installed
	$(BIN)/dunno demo

# First what one core can do, two at a time: both builds of the core are made while packages are installed. The tests have
# all cores to themselves.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
test:
	$(MAKE) -j2 $(SYNC) --no-print-directory lint types contract check-core
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

# And on one with the address and undefined-behaviour sanitizers. Python itself is not built with them, so their libraries
# come first; what Python leaves unfreed at its end is not looked at, and pyehm, which does not survive it, is left out.
PRELOAD = $(foreach name,asan ubsan stdc++,$(shell $(CXX) -print-file-name=lib$(name).so))
sanitize: $(VENV)/.installed-test build/sanitize/.installed
	DUNNO_EXAMPLES=0.1 ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(PRELOAD)" build/sanitize/bin/python -m pytest -q \
	  tests/assignment --deselect tests/assignment/test_marginals.py::test_pyehm_agrees_where_nobody_divides

# Many more damaged files than the tests try; MUTATIONS of each form, other ones with each SEED.
MUTATIONS ?= 5000
SEED ?= 1
fuzz: $(VENV)/.installed-test
	DUNNO_FUZZ=$(MUTATIONS) DUNNO_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest -q tests/io/test_fuzz.py

# The stub of the C++ core, after its bindings changed.
stub: $(VENV)/.installed-test
	$(BIN)/python -m nanobind.stubgen -q -m dunno._core -o src/dunno/_core.pyi

format: $(VENV)/.installed-test
	$(BIN)/ruff format src tests benchmarks docs
	$(BIN)/ruff check --fix src tests benchmarks docs

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
$(VENV)/.installed: $(VENV)/.made $(CORE)
	$(PIP) --no-build-isolation -e .
	touch $@

$(VENV)/.installed-test: $(VENV)/.made $(CORE)
	$(PIP) --no-build-isolation -e ".[all,transformer,test,oracles]"
	touch $@ $(VENV)/.installed

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

clean:
	rm -rf $(VENV) build dist dunno-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
