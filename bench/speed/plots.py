"""Draws the first column of each table, with matplotlib in an environment of its own.

    python plots.py FOLDER      # JSON on standard input: {name: {title, unit, bars: {subject: value}}}

Transparent, and in greys and one blue that can be read on white and on black; as wide as a phone's page,
where a wider picture would be shrunk, with its letters.
"""

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams |= {"svg.hashsalt": "svir", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}

import matplotlib.pyplot as plt  # noqa: E402 (after its back end was chosen)

GREY, BLUE = "#808890", "#3584e4"


def draw(told, path):
    names, values = list(told["bars"]), list(told["bars"].values())
    figure, axes = plt.subplots(figsize=(4.8, 0.42 * len(names) + 0.9))
    colours = [BLUE if name.startswith("svir") else GREY for name in names]
    bars = axes.barh(names, values, color=colours, height=0.62)
    axes.bar_label(bars, [f"{value:,.{1 if value < 100 else 0}f}" for value in values], padding=4, color=GREY)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(left=min(values) / 2, right=max(values) * 6)
    axes.set_title(f"{told['title']}, log scale", color=GREY, fontsize=10, loc="left")
    axes.tick_params(colors=GREY, which="both")
    for side, spine in axes.spines.items():
        spine.set_visible(side == "left")
        spine.set_color(GREY)
    figure.tight_layout()
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(figure)


for name, told in json.load(sys.stdin).items():
    draw(told, Path(sys.argv[1], f"benchmarks-{name}.svg"))
