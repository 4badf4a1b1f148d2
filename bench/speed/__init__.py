"""How fast svir is, and how small, beside its peers: tables, plots and ``bench/results/speed.json``.

    make bench                                                  # everything, or a part of it:
    python -m bench.speed [--cache DIR] [--rounds 3] [--only svir,openai] [--parts stream,send] [--page]

1. Each library is installed into a virtual environment of its own, as for the comparison of behaviour
   (``bench/peers/libraries.py``), and called as its documents show (``clients/``).
2. What it reads comes from a load generator in a process of its own (``server.py``), which sends prepared
   bytes. Its CPU time is measured too, so that one sees which of the two had to wait.
3. Every run is a fresh process; all subjects take turns, round after round; a figure is the median
   (``run.py``). CPU time is that of the client's process, and its garbage collection is as Python has it.
4. ``tables.py``, ``page.py`` and ``plots.py`` make ``docs/benchmarks.md`` of the stored results, and of
   nothing else.
"""
