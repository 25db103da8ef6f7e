# make demo    from nothing to a tracked movie
# make test    everything that must hold: lint, types, import contract, tests
# make check-core, make sanitize, make benchmark: see below

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install --disable-pip-version-check -q -c constraints.txt
CORE   := pyproject.toml constraints.txt CMakeLists.txt $(wildcard cpp/*)
BUILD  := "scikit-build-core>=1.0" "nanobind>=3.0" cmake ninja

# Real annotated movies, where they lie beside the project; tests that need them are skipped elsewhere.
ifneq ($(wildcard ../shared/data),)
export DUNNO_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test lint types contract tests stub format benchmark clean

demo: $(VENV)/.installed
	$(BIN)/dunno demo

test: lint types contract tests

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/ruff check src tests benchmarks docs

types: $(VENV)/.installed-test
	$(BIN)/mypy

contract: $(VENV)/.installed-test
	$(BIN)/lint-imports

tests: $(VENV)/.installed-test
	$(BIN)/python -m pytest

# The stub of the C++ core, after its bindings changed.
stub: $(VENV)/.installed-test
	$(BIN)/python -m nanobind.stubgen -q -m dunno._core -o src/dunno/_core.pyi

format: $(VENV)/.installed-test
	$(BIN)/ruff format src tests benchmarks docs
	$(BIN)/ruff check --fix src tests benchmarks docs

benchmark: $(VENV)/.installed-benchmark
	$(BIN)/python benchmarks/solve.py
	$(BIN)/python benchmarks/track.py

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(BUILD)
	touch $@

# Editable, so that Python files need no new install; the C++ core is built anew when it changes.
$(VENV)/.installed: $(VENV)/.made $(CORE)
	$(PIP) --no-build-isolation -e .
	touch $@

$(VENV)/.installed-test: $(VENV)/.made $(CORE)
	$(PIP) --no-build-isolation -e ".[all,test]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-benchmark: $(VENV)/.installed-test
	$(PIP) --no-build-isolation -e ".[all,test,benchmark]"
	touch $@

clean:
	rm -rf $(VENV) build dist dunno-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
