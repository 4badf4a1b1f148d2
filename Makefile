# make test   everything that must hold: format, lint, types, tests, conformance, on the built wheel
# make test-all  the same tests on Python 3.11, 3.12 and 3.13, and on the oldest versions of what svir depends on
# make demo   an answer of a real small model, streamed on this machine
# make live   the tests against that model
# make docs   the site: every page, and the reference, in build/site
# make audit  known advisories about what svir depends on; make floors, the tests on the oldest versions of it
# make fuzz   a search for input that breaks a promise (SECONDS=30 for each parser)
# make soak   calls in bad weather for five minutes, or as long as SECONDS says: nothing may grow or get lost
# make bench  what svir costs beside other libraries: docs/benchmarks.md
# make peers  what other libraries do on the same streams: docs/peers.md

PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
# It installs in seconds what takes pip most of a minute. Where it cannot, since pip has settings that it does not
# know (an index of one's own, certificates), pip does.
UV := $(VENV)/bin/uv
UV_INSTALL := $(UV) pip install --quiet --python $(PY)
PYTEST_ARGS ?=
# Twice the cores of the smallest machine: half of what the tests do is waiting.
JOBS ?= 4

.PHONY: all test lint types mypy basedpyright wheel unit fuzz soak clean
all: test

# One environment for everything; made anew when the dependencies change.
$(VENV)/.dev-stamp: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet uv==0.13.9
	$(UV_INSTALL) --group dev || { \
	  $(PY) -m pip install --quiet --upgrade "pip>=25.1" && $(PY) -m pip install --quiet --group dev; }
	touch $@

test: lint types unit

lint: $(VENV)/.dev-stamp
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .

# Each of the two keeps one core busy.
types: wheel
	$(MAKE) --no-print-directory --jobs 2 --output-sync mypy basedpyright

mypy:
	$(VENV)/bin/mypy

basedpyright:
	$(VENV)/bin/basedpyright --warnings

# The tests run on the wheel as users get it, never on the source tree.
wheel: $(VENV)/.dev-stamp
	rm -rf dist build
	$(UV) build --quiet --wheel --out-dir dist --python $(PY) . \
	  || $(PY) -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(UV_INSTALL) --reinstall-package svir "$$(ls dist/svir-*.whl)[cli]" || { \
	  $(PY) -m pip install --quiet --force-reinstall --no-deps dist/svir-*.whl && \
	  $(PY) -m pip install --quiet "$$(ls dist/svir-*.whl)[cli]"; }

# Python keeps what it compiled, whatever the shell says: rewriting the tests' asserts takes longer than some tests.
unit: wheel
	PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term $(PYTEST_ARGS)

SECONDS ?= 30
fuzz: wheel
	for parser in fuzz/[a-z]*.py; do PYTHONPATH=. $(PY) $$parser --seconds $(SECONDS) || exit 1; done

# Calls in bad weather: make soak SECONDS=3600 goes on for an hour.
soak: SECONDS = 300
soak: wheel
	PYTHONPATH=. $(PY) -W error bench/soak.py --seconds $(SECONDS)

clean:
	rm -rf $(VENV) dist build .coverage* .hypothesis .mypy_cache .ruff_cache .pytest_cache

include make/*.mk
