"""How an answer came, drawn: its pieces over time, as a step for each.

Everything across is a percentage, so that the drawing is as wide as its place while its letters keep their
size. The curve alone is stretched, in a drawing of its own within.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from svir.cli.probe._markup import Html, element
from svir.cli.probe._page import facts, seconds

if TYPE_CHECKING:
    from svir.cli.probe._report import Speed

__all__ = ["Axes", "arrivals", "axes", "told"]

HEIGHT = 168
"""Of the curve, in CSS pixels; the labels have their place around it."""
MOST_STEPS = 400
"""Steps drawn: more would not be told apart."""
SHORTEST = 0.001
"""Seconds that the axis spans at least."""


class Axes(NamedTuple):
    """How far the axes go: seconds across, pieces up."""

    seconds: float
    pieces: int


def usable(times: tuple[float, ...]) -> list[float]:
    """The times in order, without what is none: anyone may have written the report."""
    return sorted(time for time in times if math.isfinite(time) and time >= 0)


def first_of(speed: Speed) -> float | None:
    """When the first token came, when that is a time."""
    return next(iter(usable(() if speed.first_token is None else (speed.first_token,))), None)


def axes(*speeds: Speed) -> Axes:
    """The axes on which all of these can be drawn."""
    times = [usable(speed.arrivals) for speed in speeds]
    ends = [each[-1] for each in times if each] + [first_of(speed) or 0.0 for speed in speeds]
    return Axes(max(SHORTEST, *ends), max(1, *map(len, times)))


def told(speed: Speed) -> list[tuple[str, str]]:
    """The numbers, by name; an empty one is not known."""
    times = usable(speed.arrivals)
    pauses = [later - earlier for earlier, later in pairwise(times)]
    rate = speed.tokens_per_second
    return [
        ("First token", "" if speed.first_token is None else seconds(speed.first_token)),
        ("Speed", "" if rate is None else f"{rate:.3g} tokens/s"),
        ("Pieces", f"{len(times)} over {seconds(times[-1] - times[0])}" if times else ""),
        ("Longest pause", seconds(max(pauses)) if pauses else ""),
    ]


def arrivals(speed: Speed, on: Axes | None = None) -> Html:
    """The figure with its numbers; empty when nothing was timed."""
    numbers = told(speed)
    if not any(value for _, value in numbers):
        return Html()
    drawn = [drawing(speed, on or axes(speed))] if usable(speed.arrivals) else []
    return element("figure", element("figcaption", facts(numbers, class_="numbers")), *drawn)


def drawing(speed: Speed, on: Axes) -> Html:
    """The curve, its axes, where the first token came, and how fast the others did."""
    said = "; ".join(f"{name.lower()} {value}" for name, value in told(speed) if value)
    parts = [*scales(on), curve(usable(speed.arrivals), on)]
    if (first := first_of(speed)) is not None:
        x, late = across(first, on), first > on.seconds / 2
        parts += [
            element("line", x1=x, x2=x, y1="0", y2=f"{HEIGHT}", class_="first"),
            element(
                "text",
                f"first token {seconds(first)}",
                x=x,
                dx="-6" if late else "6",
                y="12",
                class_="note at-end" if late else "note",
            ),
        ]
    if speed.tokens_per_second is not None:
        rate = f"{speed.tokens_per_second:.3g} tokens/s"
        parts.append(element("text", rate, x="100%", dx="-6", y=f"{HEIGHT - 10}", class_="note at-end"))
    return element(
        "svg", *parts, role="img", aria_label=f"Pieces of the answer over time: {said}.", class_="plot"
    )


def scales(on: Axes) -> list[Html]:
    """The two axes: a line at each round number of pieces, a tick at each of seconds."""
    parts = [
        element("text", "pieces of the answer", x="-8", y="-12"),
        element("text", "seconds since the request", x="100%", y=f"{HEIGHT + 38}", class_="at-end"),
    ]
    for pieces in ticks(on.pieces, 4):
        if pieces.is_integer():
            y = f"{HEIGHT * (1 - pieces / on.pieces):.1f}"
            parts += [
                element("line", x1="0", x2="100%", y1=y, y2=y, class_="grid"),
                element("text", f"{pieces:g}", x="-8", y=y, dy="0.32em", class_="at-end"),
            ]
    for time in ticks(on.seconds, 5):
        x = across(time, on)
        parts += [
            element("line", x1=x, x2=x, y1=f"{HEIGHT}", y2=f"{HEIGHT + 5}", class_="tick"),
            element("text", f"{time:g}", x=x, y=f"{HEIGHT + 19}", class_="at-middle"),
        ]
    return parts


def across(time: float, on: Axes) -> str:
    return f"{100 * (time / on.seconds):.2f}%"


def ticks(top: float, most: int) -> list[float]:
    """Round numbers from 0 up to ``top``, not many more than ``most``.

    Example:
        >>> ticks(2.3, 5)
        [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    unit = 10.0 ** math.floor(math.log10(top / most))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * most >= top / unit * (1 - 1e-9))
    return [number * step for number in range(int(top / step * (1 + 1e-9)) + 1)]


def curve(times: list[float], on: Axes) -> Html:
    """A step up for each piece, thinned out when there are many."""
    every = -(-len(times) // MOST_STEPS)
    steps = (
        f"H{1000 * (time / on.seconds):.1f}V{1000 * (1 - number / on.pieces):.1f}"
        for number, time in enumerate(times, 1)
        if number % every == 0 or number == len(times)
    )
    return element(
        "svg",
        element("path", d=f"M0 1000{''.join(steps)}", class_="curve"),
        viewBox="0 0 1000 1000",
        preserveAspectRatio="none",
        width="100%",
        height=f"{HEIGHT}",
        overflow="visible",
    )
