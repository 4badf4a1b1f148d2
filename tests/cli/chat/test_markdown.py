"""Which blocks of a growing text are finished, and how they are drawn."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svir.cli.chat import _markdown
from svir.cli.chat._markdown import PARSER, Blocks, Drawn, in_fence, outermost, parse, settled, tail
from tests.cli.chat.terminal import Terminal

PAGE = """\
# Rivers

They are **long**, see [a page](https://example.org/rivers?x=1).
- Glomma
- Otta
  - from a lake

  and more
1. one
2. two

| River | km |
|---|--:|
| Glomma | 621 |
| Tana | 361 |

```python
def flow(x):

    return x | 1
```
> quoted

    indented

Title
---
The end
"""


MARKS = (
    *(
        "# h",
        "text",
        "**b**",
        "*i",
        "`c`",
        "```",
        "```py",
        "~~~",
        "- a",
        "  - b",
        "    code",
        "1. x",
        "10) y",
    ),
    *(
        "> q",
        " ",
        "\n",
        "\n\n",
        "| a | b |",
        "|---|---|",
        "| c |",
        "---",
        "===",
        "[l](http://x)",
        "[l",
        "![i](u)",
    ),
    *(
        "<b>",
        "&#12;",
        "\\",
        "\t",
        "* * *",
        "- [ ] t",
        "\u4e2d",
        "\U0001f600",
        "[1]: http://x",
        "12.",
        "-",
        "#",
    ),
)


def drawn(text, columns=80):
    terminal = Terminal(columns, 200)
    terminal.console().print(Drawn(text), end="")
    return terminal


def kinds(tokens):
    return [block[0].type.removesuffix("_open") for block in outermost(tokens)]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 50, 10_000])
def test_blocks_are_the_same_however_the_text_is_cut(step):
    blocks = Blocks()
    finished = []
    for start in range(0, len(PAGE), step):
        finished += kinds(blocks.push(PAGE[start : start + step]))
    finished += kinds(blocks.end())
    assert finished == kinds(parse(PAGE))
    assert blocks.open == ""


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(MARKS), max_size=20).map("".join), st.integers(1, 9))
def test_any_text_is_drawn_the_same_however_it_is_cut(text, step):
    terminal, blocks, printed = Terminal(30, 10), Blocks(), False
    console = terminal.console(color_system=None)
    pieces = [blocks.push(text[start : start + step]) for start in range(0, len(text), step)]
    for tokens in filter(None, [*pieces, blocks.end()]):
        console.print(Drawn(tokens, gap=printed), end="")
        printed = True
    at_once = Terminal(30, 10)
    at_once.console(color_system=None).print(Drawn(text), end="")
    assert terminal.written == at_once.written


def test_a_block_is_finished_when_the_next_one_begins():
    blocks = Blocks()
    assert not blocks.push("One\nmore\n")
    assert not blocks.push("\n")
    assert kinds(blocks.push("Two")) == ["paragraph"]
    assert blocks.open == "Two"


@pytest.mark.parametrize(
    "text",
    [
        "- one\n\n- two\n\n  more of two\n\n3",
        "1. one\n\n2",
        "1. one\n\n12",
        "```\none\n\n# two\n",
        "| a |\n|---|\n| b |\n| c",
        "> one\n> two\nlazy",
        "one\n=",
        "one\n-",
        "one\n```py is `` code```\n",
    ],
)
def test_what_may_go_on_is_not_finished(text):
    blocks = Blocks()
    for character in text:
        assert not blocks.push(character)


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("```\n", True),
        ("```py\nx", True),
        ("   ~~~~\n~~~\n", True),
        ("```\n``\n ```x\n", True),
        ("```", False),
        ("```\nx\n```", False),
        ("```\n````  \nx", False),
        ("~~~\nx\n ~~~\n", False),
        ("```a`b```\n", False),
        ("    ```\n", False),
        ("x\n```\n", False),
    ],
)
def test_code_that_is_not_closed_is_known(text, goes_on):
    assert in_fence(text) is goes_on
    if goes_on:
        assert kinds(parse(f"{text}\n# x")) == ["fence"]


def test_a_long_list_is_not_read_again_at_every_line(monkeypatch):
    read = []
    monkeypatch.setattr(PARSER, "parse", lambda text: read.append(len(text)) or [])
    blocks, text = Blocks(), "- a river\n" * 1000
    for line in text.splitlines(keepends=True):
        blocks.push(line)
    assert len(read) > 100
    assert sum(read) < 50 * len(text)


def test_the_parser_is_ready_before_two_threads_use_it():
    spec = importlib.util.spec_from_file_location("fresh", _markdown.__file__)
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    parser = fresh.PARSER
    assert all(
        part.__cache__
        for part in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2)
    )


def test_of_code_that_is_not_closed_the_end_is_enough():
    assert tail("```py\na\nb\nc\n", 2) == "```py\nb\nc\n"
    assert tail("```py\na\nb\nc\n```\n", 2) == "```py\na\nb\nc\n```\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Three:\n-", "Three:\n"),
        ("Three:\n- o", "Three:\n- o"),
        ("a\n\n12", "a\n\n"),
        ("a\n\n12.", "a\n\n"),
        ("a\n\n12. b", "a\n\n12. b"),
        ("#", ""),
        ("## T", "## T"),
        ("``", ""),
        ("```py", ""),
        ("```py\n", "```py\n"),
        ("- a\n  ```py", "- a\n"),
        ("**", ""),
        ("**b", "**b"),
        ("- [", ""),
        ("- [x] d", "- [x] d"),
        ("a\n| b", "a\n"),
        ("a\n| b |\n", "a\n"),
        ("| b |\n|--", ""),
        ("| b |\n|--|\n", "| b |\n|--|\n"),
        ("| b |\n|--|\n| c", "| b |\n|--|\n"),
        ("| b |\n\n", "| b |\n\n"),
        ("", ""),
        ("   ", ""),
    ],
)
def test_what_may_mean_two_things_is_not_shown_yet(text, shown):
    assert settled(text) == shown


def test_every_kind_of_block_is_drawn_with_one_blank_line_between():
    lines = drawn(PAGE).lines
    text = "\n".join(lines)
    assert "\n\n\n" not in text
    assert lines[:3] == ["Rivers", "", "They are long, see a page (https://example.org/rivers?x=1)."]
    assert " River    km" in lines
    assert "         return x | 1".strip() in text
    assert lines[-1] == "The end"


def test_a_links_target_is_seen_and_nothing_is_hidden_in_a_hyperlink():
    terminal = drawn(
        "[my bank](https://evil.example) ![pic](https://evil.example/p.png) <https://auto.example>"
    )
    assert "my bank (https://evil.example)" in terminal.lines[0]
    assert "https://evil.example/p.png" in "".join(terminal.lines)
    assert "\x1b]8" not in terminal.written


@pytest.mark.parametrize(
    "text",
    [
        "a <b>bold</b> List<String> word",
        "<details>\nhidden?\n</details>",
        "[1]: https://example.org/listed",
        "<!-- a comment -->",
    ],
)
def test_no_text_is_lost(text):
    assert "".join(drawn(text).lines).split() == text.replace("\n", "").split()


def test_lines_end_with_their_text():
    terminal = Terminal(60, 60)
    terminal.console(color_system=None).print(Drawn(PAGE), end="")
    assert not any(line.rstrip("\r\n").endswith(" ") for line in terminal.written.splitlines())


def test_line_breaks_stay():
    assert drawn("Name: x\nAge: 7").lines == ["Name: x", "Age: 7"]


@pytest.mark.parametrize(
    "spelled",
    [
        "&#12;",
        "a\x1b[2Jb",
        "`a\x9b2Jb`",
        "&#27;[31mred",
        "&#x9b;31m",
        "`a&#27;`",
        "[a](<&#27;]0;x&#7;>)",
        "&#x1b;]0;t&#7;",
    ],
)
def test_control_characters_are_left_out_however_they_are_spelled(spelled):
    terminal = Terminal()
    terminal.console(no_color=True, color_system=None).print(Drawn(spelled), end="")
    assert not {*terminal.written} & {"\x1b", "\x9b", "\x07", "\x9d", "\x0c"}


def test_a_table_loses_nothing_on_a_narrow_screen():
    digits, letters = "0123456789" * 6, "ABCDEFGHIJ" * 6
    lines = drawn(f"| name | value |\n|---|---|\n| {digits} | {letters} |\n", 40).lines
    assert "".join(c for line in lines for c in line if c in digits) == digits
    assert "".join(c for line in lines for c in line if c in letters) == letters


def test_only_the_last_lines_are_drawn_where_there_is_no_room():
    terminal = Terminal()
    terminal.console().print(Drawn("\n".join("abcdefgh"), gap=True, last=3), end="")
    assert terminal.lines == ["f", "g", "h"]
