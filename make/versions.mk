# The tests on every version of Python that svir is for, and on the oldest versions of what it depends on.
#
#   make test-all                                                 each version in an environment of its own
#   make test-all PYTHONS="$HOME/python/3.12/bin/python python3.13"     others, or found elsewhere

PYTHONS ?= python3.11 python3.12 python3.13

.PHONY: test-all

test-all: lint types
	for python in $(PYTHONS); do \
	  version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])') \
	    || { echo "test-all: there is no $$python here: name yours with PYTHONS="; exit 1; }; \
	  echo "== Python $$version"; \
	  $(MAKE) unit PYTHON=$$python VENV=.venv-$$version || exit 1; \
	done
	$(MAKE) floors
