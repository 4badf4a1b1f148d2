"""The page of a report: whole, self-contained, and without effect whatever a server said."""

from __future__ import annotations

import base64
import hashlib
import re

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from svir.cli.probe._html import render
from svir.cli.probe._report import Report, Row, Speed, Verdict
from tests.cli.probe.parsed import inert, reports
from tests.cli.probe.reports import HOSTILE, HOSTILE_WORDS, LLAMA, PROXIED


@pytest.mark.parametrize("report", [LLAMA, PROXIED, HOSTILE], ids=["llama", "proxied", "hostile"])
def test_a_page_runs_nothing_and_loads_nothing(report):
    page = inert(render(report))
    assert "script" not in {name for name, _ in page.elements}


def test_its_policy_allows_its_own_style_and_nothing_else():
    page = inert(render(HOSTILE))
    policies = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert policies == [
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    ]
    # It counts for what comes after it, and only the encoding comes before.
    assert [name for name, _ in page.elements[:4]] == ["html", "head", "meta", "meta"]


@pytest.mark.parametrize("report", [LLAMA, PROXIED], ids=["llama", "proxied"])
def test_every_field_is_shown_and_nothing_is_cut_off(report):
    text = inert(render(report)).text
    for row in report.rows:
        fields = (
            row.id,
            row.question,
            row.verdict,
            row.finding,
            row.sent,
            row.shown,
            row.strict,
            row.lenient,
        )
        for value in (*fields, *row.options, row.advice):
            assert value in text.replace("\\n\n", "\\n").replace("completions\n", "completions ")
    for value in (report.url, report.model, report.server, report.svir, report.call):
        assert value in text


def test_the_head_counts_each_verdict():
    page = inert(render(LLAMA))
    bars = [a["class"] for name, a in page.elements if name == "rect"]
    assert bars == list(Verdict)
    assert re.search(r"4\W+ok\s+3\W+different\s+1\W+broken\s+1\W+unsupported\s+1\W+unclear", page.text)


def test_a_verdict_is_told_by_a_sign_and_a_word():
    page = render(LLAMA)
    marks = re.findall(
        r'<span class="mark (\w+)"><span class="sign" aria-hidden="true">(.)</span> (\w+)<', page
    )
    assert {word for _, _, word in marks} == set(Verdict)
    assert len({sign for _, sign, _ in marks}) == len(Verdict)
    assert all(name == word for name, _, word in marks)


def test_rows_are_in_groups_and_each_opens():
    page = inert(render(LLAMA))
    groups = [a["class"] for name, a in page.elements if name == "section"]
    assert groups.count("group") == len({row.id.partition(".")[0] for row in LLAMA.rows})
    names = [name for name, _ in page.elements]
    assert names.count("summary") == names.count("details") == len(LLAMA.rows) + 1
    assert {"header", "main", "footer", "h1", "h2", "h3"} <= set(names)


@pytest.mark.parametrize("words", HOSTILE_WORDS, ids=range(len(HOSTILE_WORDS)))
@pytest.mark.parametrize("field", ["url", "model", "server", "svir", "started", "call"])
def test_what_a_server_says_is_text(words, field):
    page = inert(render(msgspec.structs.replace(LLAMA, **{field: words})))
    assert "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in words) in page.text


def test_an_escape_is_told_from_the_letters_that_look_like_it():
    page = render(msgspec.structs.replace(LLAMA, call="\\u202e \u202e"))
    assert '\\u202e <span class="esc">\\u202e</span>' in page


def test_a_date_is_told_in_utc_and_what_is_none_as_it_is():
    replace = msgspec.structs.replace
    assert '<time datetime="2026-07-01T10:03:22Z">2026-07-01 10:03 UTC</time>' in render(
        replace(LLAMA, started="2026-07-01T12:03:22+02:00")
    )
    assert "the day before" in inert(render(replace(LLAMA, started="the day before"))).text


def test_without_rows_and_without_times_there_is_still_a_page():
    page = inert(render(msgspec.structs.replace(LLAMA, rows=(), speed=Speed())))
    assert LLAMA.call in page.text
    assert "figure" not in {name for name, _ in page.elements}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # reports are large
@given(reports)
def test_any_report_makes_a_page_without_effect(report: Report):
    page = inert(render(report))
    assert sum(name == "h3" for name, _ in page.elements) == len(report.rows)


def test_an_event_and_a_body_begin_on_lines_of_their_own():
    row = Row(
        id="a.b",
        question="How?",
        verdict=Verdict.OK,
        finding="So.",
        sent='POST /v1/chat/completions {"stream":true,"messages":[ {}]}',
        shown=r'data: {"a":"\n"}\n\ndata: [DONE]\n\n',
    )
    text = inert(render(msgspec.structs.replace(LLAMA, rows=(row,)))).text
    assert 'POST /v1/chat/completions\n{"stream":true,"messages":[ {}]}' in text
    assert 'data: {"a":"\\n"}\\n\\n\ndata: [DONE]\\n\\n' in text


def test_what_both_modes_make_of_it_is_said_once():
    row = Row(id="a.b", question="?", verdict=Verdict.OK, finding="", strict="whole", lenient="whole")
    page = inert(render(msgspec.structs.replace(LLAMA, rows=(row,))))
    assert re.search(r"Strict\s+whole\s+Lenient\s+as in strict mode\s", page.text)
