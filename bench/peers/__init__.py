"""What svir and other client libraries do when a model server misbehaves, seen from outside, as a page.

    make peers                                                # everything, or a part of it:
    python -m bench.peers [--cache DIR] [--only svir] [--cases cut] [--runs 11] [--page]

1. Each library is installed from the package index into a virtual environment of its own
   (``libraries.py``), and asked through a small adapter written as its documents show (``adapters/``), in a
   fresh process for each case.
2. A scripted server on loopback plays each case (``cases.py``, ``server.py``), and notes what it was sent.
3. What the adapter reported, what the server saw and how the process ended is kept as JSON in
   ``bench/results/peers.json`` (``run.py``, ``measure.py``). ``tables.py`` and ``page.py`` make
   ``docs/peers.md`` of it, and of nothing else.
"""
