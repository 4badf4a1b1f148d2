"""What all pages share: the style sheet can be read in light and in dark, and escapes are complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from svir.cli.probe import _page
from svir.cli.probe._markup import element, joined, visible

STYLE = Path(_page.__file__).with_name("page.css").read_text("ascii")


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


LIGHT, DARK = (colours(block) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", sorted(LIGHT.keys() - {"paper", "box", "line"}))
def test_every_colour_of_a_text_is_legible(theme, name):
    assert contrast(theme[name], theme["paper"]) >= 4.5
    assert contrast(theme[name], theme["box"]) >= 4.5


def test_both_themes_have_all_colours():
    assert LIGHT.keys() == DARK.keys()
    assert set(re.findall(r"var\(--(\w+)\)", STYLE)) == LIGHT.keys() | {"text", "mono"}


def test_the_style_loads_nothing():
    assert not re.search(r"url\(|@import|@font-face|expression|</", STYLE)


def test_an_attribute_is_escaped_too():
    assert element("p", class_="\"'><b>\0") == '<p class="&quot;&#x27;&gt;&lt;b&gt;\\x00"></p>'


def test_markup_is_not_escaped_again():
    assert joined([element("b", "<"), "<"], " & ") == "<b>&lt;</b> &amp; &lt;"


def test_everything_that_cannot_be_seen_becomes_an_escape():
    shown = visible("".join(map(chr, range(0x110000))))
    assert shown.replace("\n", "").replace("\t", "").isprintable()
    assert set(shown) >= {"\n", "\t", " ", "\N{CHECK MARK}"}
