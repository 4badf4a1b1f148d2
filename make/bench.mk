# What svir costs beside its peers: docs/benchmarks.md, its pictures, and bench/results/speed.json. It installs the
# peers from the package index, takes a quarter of an hour, and wants a machine that does nothing else.
#
#   make bench                                        everything
#   make bench BENCH_ARGS='--parts long,many'         a part of it again; the rest stays as it is

BENCH_ARGS ?=

.PHONY: bench

bench: $(VENV)/.dev-stamp
	$(PY) -m bench.speed --cache $(PEERS) $(BENCH_ARGS)
