from __future__ import annotations

import pytest

from svir import ConfigError, Tool

NOTHING = {"type": "object", "properties": {}}


def test_a_tool_without_a_schema_takes_no_arguments():
    assert Tool("t").input_schema == Tool("t", "d", None).input_schema == NOTHING


def test_default_schemas_are_not_shared():
    assert Tool("a").input_schema is not Tool("b").input_schema


def test_a_tool_needs_a_name():
    with pytest.raises(ConfigError, match="name"):
        Tool("")


@pytest.mark.parametrize("arguments", [(None,), ("t", None), ("t", "d", []), ("t", "d", "{}"), (1,)])
def test_a_wrong_python_type_is_a_type_error(arguments):
    with pytest.raises(TypeError, match=r"Tool\."):
        Tool(*arguments)
