"""The texts on the page about tools are the ones a model gets."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import svir

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def test_the_texts_in_the_table_are_the_ones_a_model_gets():
    if not PAGE.exists():
        pytest.skip("the page is not beside the tests")
    tools = svir.Tools()

    class Thing:
        pass

    @tools.add
    def weather(city: str, days: int, unit: Literal["celsius", "fahrenheit"] = "celsius") -> object:
        return Thing()

    page = PAGE.read_text("ascii")
    for name, arguments in [
        ("weather", '{"city": 1}'),
        ("weather", '{"city": "a", "days": 1, "unit": "kelvin"}'),
        ("weather", '{"city": "a", "days": 1, "colour": "red"}'),
        ("weather", "[]"),
        ("weather", '{"city": "a", "days": 1}'),
        ("umbrella", "{}"),
    ]:
        result = tools.call(svir.ToolCall("1", name, arguments))
        assert result.is_error
        assert f"`{result.content}`" in page
