# What svir asks for: its known advisories, and whether the oldest versions do. Both need the network.

PIP_AUDIT ?= pip-audit==2.10.1
AUDIT := build/audit
COMMA := ,
# All but the model server, which is large, and only for trying things out.
EXTRAS := aiohttp,cli,httpx2,otel,tools

.PHONY: audit floors

# Of the newest versions what a user gets, with all that comes along; of the oldest what is asked for.
audit: wheel
	$(PYTHON) -m venv $(AUDIT)/user
	$(AUDIT)/user/bin/python -m pip install --quiet "$$(ls dist/svir-*.whl)[$(EXTRAS)]"
	$(AUDIT)/user/bin/python -m pip freeze --exclude svir > $(AUDIT)/newest.txt
	$(PY) make/floors.py > $(AUDIT)/floors.txt
	$(PYTHON) -m venv $(AUDIT)/tool
	$(AUDIT)/tool/bin/python -m pip install --quiet "$(PIP_AUDIT)"
	for list in newest floors; do \
	  $(AUDIT)/tool/bin/pip-audit --strict --disable-pip --no-deps --requirement $(AUDIT)/$$list.txt || exit 1; \
	done

# OpenTelemetry's SDK, which only the tests need, goes with its API. The site needs tools that are not installed here,
# and the page about dependencies is about the newest.
floors: wheel
	$(PYTHON) -m venv build/floors
	build/floors/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	build/floors/bin/python -m pip install --quiet --group test
	build/floors/bin/python -m pip install --quiet "$$(ls dist/svir-*.whl)[$(EXTRAS)]"
	$(PY) make/floors.py $(subst $(COMMA), ,$(EXTRAS)) > build/floors/floors.txt
	sed -n 's/^opentelemetry-api/opentelemetry-sdk/p' build/floors/floors.txt >> build/floors/floors.txt
	build/floors/bin/python -m pip install --quiet --requirement build/floors/floors.txt
	build/floors/bin/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS) \
	  --ignore tests/test_site.py --ignore tests/test_dependencies.py
