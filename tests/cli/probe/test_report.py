"""The form of a report: what is written is read again, also when a later version says more."""

from __future__ import annotations

import msgspec
import pytest

from svir.cli.probe._html import render
from svir.cli.probe._report import Report
from tests.cli.probe.reports import LLAMA, PROXIED


@pytest.mark.parametrize("report", [LLAMA, PROXIED], ids=["llama", "proxied"])
def test_a_report_comes_back_from_json_as_it_was(report):
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


def test_keys_of_a_later_version_are_skipped():
    data = msgspec.to_builtins(LLAMA)
    data["weather"] = {"wind": 3}
    data["speed"]["jitter"] = [0.1]
    for row in data["rows"]:
        row["mood"] = None
    report = msgspec.json.decode(msgspec.json.encode(data), type=Report)
    assert report == LLAMA
    assert render(report) == render(LLAMA)
