"""Two reports, read and compared: what is different first, whatever else is in the files."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from rich.console import Console

from svir.cli._refused import RefusedError
from svir.cli.probe._compare import Kind, compare, read_report
from svir.cli.probe._compare_html import render_comparison
from svir.cli.probe._compare_text import plain, print_comparison
from svir.cli.probe._report import Report, Row, Verdict
from tests.cli.probe.parsed import inert, reports
from tests.cli.probe.reports import HOSTILE, LLAMA, PROXIED

COMPARED = compare(LLAMA, PROXIED)


def with_rows(*rows: Row) -> Report:
    return msgspec.structs.replace(LLAMA, rows=rows)


def row(name: str = "a.b", verdict: Verdict = Verdict.OK, finding: str = "So.", **more) -> Row:
    return Row(id=name, question="How?", verdict=verdict, finding=finding, **more)


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        (row(), row(), Kind.SAME),
        (row(shown="one"), row(shown="other"), Kind.SAME),
        (row(), row(verdict=Verdict.BROKEN), Kind.VERDICT),
        (row(), row(finding="Not so."), Kind.FINDING),
        (row(finding="1.5 s, 2 pieces."), row(finding="12 s, 30 pieces."), Kind.NUMBERS),
        (row(finding="HTTP 400: 7."), row(finding="HTTP 404: 7."), Kind.FINDING),
        (row(), row(options=("mode='lenient'",)), Kind.FINDING),
        (row(), None, Kind.ONLY_A),
        (None, row(), Kind.ONLY_B),
        (row(), row(verdict=Verdict.SKIPPED), Kind.ONLY_A),
        (row(verdict=Verdict.SKIPPED), row(), Kind.ONLY_B),
        (row(verdict=Verdict.SKIPPED), row(verdict=Verdict.SKIPPED), Kind.SAME),
        (row(verdict=Verdict.SKIPPED), None, Kind.ONLY_A),
        (None, row(verdict=Verdict.SKIPPED), Kind.ONLY_B),
    ],
)
def test_what_two_answers_are_to_each_other(a, b, kind):
    compared = compare(*(with_rows(*(each,) if each else ()) for each in (a, b)))
    assert [pair.kind for pair in compared.pairs] == [kind]
    assert compared.pairs[0].rows == (a, b)


def test_rows_are_paired_by_name_and_another_verdict_comes_before_other_words():
    a = with_rows(row("x.same"), row("x.words"), row("x.a"), row("x.verdict"))
    b = with_rows(row("x.b"), row("x.verdict", Verdict.BROKEN), row("x.words", finding="No."), row("x.same"))
    assert [pair.row.id for pair in compare(a, b).pairs] == ["x.verdict", "x.words", "x.a", "x.b", "x.same"]


def test_a_written_report_is_read_again(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(LLAMA), indent=2))
    assert read_report(path) == LLAMA


def edited(**changes: object) -> bytes:
    return msgspec.json.encode({**msgspec.to_builtins(LLAMA), **changes})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "'a.json' is no JSON"),
        (b"{", "'a.json' is no JSON"),
        (b"\xff\xfe", "'a.json' is no JSON"),
        (b'{"format": 1, "url": "\xff"}', "'a.json' is no JSON"),
        (b"[" * 100_000, "'a.json' is no"),
        (b"[]", "no report that `svir probe --json` wrote: Expected `object`, got `array`"),
        (
            b'{"models": []}',
            "no report that `svir probe --json` wrote: Object missing required field `format`",
        ),
        (b'{"format": 1}', "missing required field `svir`"),
        (edited(rows=[{"id": 3}]), "Expected `str`, got `int` - at `$.rows[0].id`"),
        (edited(format=2), "'a.json' is in form 2, and this svir reads form 1"),
        (edited(rows=[msgspec.to_builtins(row())] * 2), "'a.json' has two rows of one name"),
    ],
)
def test_what_is_no_report_is_said_in_one_line(tmp_path, data, said):
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with pytest.raises(RefusedError, match=re.escape(said)) as caught:
        read_report(path)
    assert caught.value.__context__ is None
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_said_with_its_reason(tmp_path):
    with pytest.raises(RefusedError, match=r"'a\.json' cannot be read: No such file"):
        read_report(tmp_path / "a.json")
    with pytest.raises(RefusedError, match="cannot be read: Is a directory"):
        read_report(tmp_path)


def printed(width: int, a: Report = LLAMA, b: Report = PROXIED) -> list[str]:
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        print_comparison(console, compare(a, b))
    return captured.get().splitlines()


@pytest.mark.parametrize("width", [200, 80, 60, 59, 40, 24])
def test_a_terminal_of_any_width_shows_all_of_it(width):
    lines = printed(width)
    assert max(map(len, lines)) <= width
    assert "\N{HORIZONTAL ELLIPSIS}" not in "".join(lines)
    squeezed = re.sub(r"\s", "", "".join(lines))
    for heading in ("otherverdict(1)", "otherfinding(1)", "onlyinA(3)", "onlyinB(1)", "same(6)"):
        assert heading in squeezed
    for pair in COMPARED.pairs:
        one_column = pair.kind in {Kind.ONLY_A, Kind.ONLY_B, Kind.SAME} and len(pair.row.id) <= width // 4
        if width < 60 or one_column:  # else the lines of one cell stand between those of another
            assert all(re.sub(r"\s", "", each.finding) in squeezed for each in pair.rows if each)


def test_two_answers_stand_side_by_side_when_there_is_room():
    lines = printed(100)
    assert any(
        re.fullmatch(r"  stream\.done +ok  With a finish .* !!  Without \[DONE\]: the .*", line)
        for line in lines
    )
    narrow = [line.rstrip() for line in printed(50)]
    at = narrow.index("  stream.done")
    assert narrow[at + 1].startswith("  A ok With a finish reason")
    assert narrow[at + 3].startswith("  B !! Without [DONE]")


def test_hostile_words_drive_no_terminal_and_break_no_line_of_a_pipe():
    compared = compare(LLAMA, HOSTILE)
    assert all(line.isprintable() for line in printed(80, LLAMA, HOSTILE))
    lines = plain(compared).splitlines()
    assert len(lines) == len(compared.pairs)
    assert all(line.replace("\t", "").isprintable() for line in lines)


def test_a_pipe_gets_a_line_for_each_question():
    lines = [line.split("\t") for line in plain(COMPARED).splitlines()]
    assert lines[0] == [
        "other verdict",
        "stream.done",
        "ok",
        "broken",
        "With a finish reason, the usage, and [DONE].",
        "Without [DONE]: the connection is closed after the usage.",
    ]
    assert [line[:4] for line in lines if line[0].startswith("only")] == [
        ["only in A", "stream.comments", "different", "-"],
        ["only in A", "tools.parallel", "unclear", "-"],
        ["only in A", "headers.request_id", "skipped", "-"],
        ["only in B", "headers.redirect", "-", "ok"],
    ]
    assert {len(line) for line in lines} == {6}


def test_the_page_shows_what_either_has_and_nothing_runs():
    page = inert(render_comparison(COMPARED))
    assert "1 other verdict, 1 other finding, 3 only in A, 1 only in B, 6 same" in page.text
    text = page.text.replace("\\n\n", "\\n").replace("completions\n", "completions ")
    for report in (LLAMA, PROXIED):
        for value in (report.url, report.model, report.call, report.server):
            assert value in page.text
        for each in report.rows:
            for value in (
                each.id,
                each.question,
                each.finding,
                each.sent,
                each.strict,
                each.lenient,
                each.shown,
            ):
                assert value in text
    sections = [a["class"] for name, a in page.elements if name == "section"]
    assert sections == ["call", "call", *["group"] * 5]


def test_what_both_have_is_said_once_and_what_they_do_not_beside_their_letters():
    a = row(finding="So.", strict="whole", lenient="the same")
    b = row(finding="Not so.", strict="broken", lenient="the same")
    text = re.sub(r"\s+", " ", inert(render_comparison(compare(with_rows(a), with_rows(b)))).text)
    assert "A \u2713 ok So. B \u2713 ok Not so." in text.replace("So.B", "So. B")
    assert "Strict A whole B broken Lenient the same Name a.b" in text


def test_both_answers_are_drawn_on_the_same_axes():
    page = inert(render_comparison(COMPARED))
    labels = [a["y"] for name, a in page.elements if name == "text" and a.get("class") == "at-middle"]
    drawings = [a for name, a in page.elements if a.get("class") == "plot"]
    assert len(drawings) == 2
    ticks = re.findall(r'class="at-middle">([\d.]+)<', render_comparison(COMPARED))
    assert ticks == ["0", "1", "2"] * 2
    assert len(labels) == 6


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(reports, reports)
def test_any_two_reports_are_compared(a, b):
    compared = compare(a, b)
    assert {pair.row.id for pair in compared.pairs} == {each.id for each in (*a.rows, *b.rows)}
    page = inert(render_comparison(compared))
    assert sum(name == "h3" for name, _ in page.elements) == len(compared.pairs)
    assert len(plain(compared).splitlines()) == len(compared.pairs)
    assert all(line.isprintable() for line in printed(40, a, b))
