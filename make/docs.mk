# The site: every page of docs/ and the reference, in build/site. A warning is an error.

.PHONY: docs

docs: wheel
	$(PY) docs/site/build.py build/site
