# The comparison with other libraries, docs/peers.md. It installs them from the package index and takes its time,
# so it is no part of `make test`, which only holds that the page is what its results say.
#
#   make peers                               everything
#   make peers PEERS_ARGS='--only svir'      one library again; the others stay as they are

PEERS ?= .venv-peers
PEERS_ARGS ?=

.PHONY: peers

peers: $(VENV)/.dev-stamp
	$(PY) -m bench.peers --cache $(PEERS) $(PEERS_ARGS)
