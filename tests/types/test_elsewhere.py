"""Attributes that values have in other libraries: reading one says what has it here, and disturbs nothing."""

from __future__ import annotations

import copy
import inspect
import pickle
from unittest import mock

import msgspec
import pytest

import svir
from svir.types._elsewhere import ATTRIBUTES
from svir.types._value import Elsewhere, Value

VALUES = {
    type(value).__name__: value
    for value in (
        svir.Completion(svir.FinishReason.STOP, "Because."),
        svir.Completed(svir.Completion(svir.FinishReason.STOP)),
        svir.TextDelta("Be"),
        svir.ReasoningDelta("think", "Hm"),
        svir.ToolCallDelta(0),
        svir.ToolCall("c-1", "weather"),
        svir.Usage(1, 2),
        svir.user("Why?"),
    )
}
NAMES = [(kind, name) for kind, names in ATTRIBUTES.items() for name in names]


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("Completion", "choices", "it is the one answer: text, calls, finish, usage"),
        ("Completion", "content", "what it says is in text"),
        ("Completion", "tool_calls", "it is calls here"),
        ("TextDelta", "choices", "a stream has events: match their classes, or iterate over stream.text()"),
        ("Usage", "prompt_tokens", "it is input here"),
        ("Message", "content", "what it says is in parts"),
    ],
)
def test_an_attribute_of_another_library_leads_to_the_one_here(kind, name, said):
    value = VALUES[kind]
    with pytest.raises(AttributeError) as caught:
        getattr(value, name)
    assert str(caught.value) == (
        f"'{kind}' object has no attribute '{name}': {said}; docs/migrating.md has both side by side"
    )
    assert (caught.value.name, caught.value.obj) == (name, value)
    with pytest.raises(AttributeError, match=f"^type object '{kind}' has no attribute '{name}': "):
        getattr(type(value), name)


def test_a_class_of_ones_own_says_the_same():
    class Kept(svir.Completion, frozen=True):
        pass

    with pytest.raises(
        AttributeError, match="'Kept' object has no attribute 'choices': it is the one answer"
    ):
        _ = Kept(svir.FinishReason.STOP).choices


def test_the_table_and_the_classes_agree():
    kinds = [getattr(svir, kind) for kind in svir.types.__all__ if inspect.isclass(getattr(svir, kind, None))]
    found = [
        (kind.__name__, name)
        for kind in kinds
        if issubclass(kind, Value)
        for name, held in vars(kind).items()
        if isinstance(held, Elsewhere)
    ]
    assert sorted(found) == sorted(NAMES)
    assert not [(kind, name) for kind, name in NAMES if name in getattr(svir, kind).__struct_fields__]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_whoever_looks_for_it_finds_nothing(kind, name):
    value = VALUES[kind]
    assert not hasattr(value, name)
    assert getattr(value, name, None) is None
    assert name not in dir(value)
    assert name not in dict(inspect.getmembers(value))
    assert not hasattr(mock.Mock(spec=value), name)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_values_are_copied_shown_and_compared_as_before(value):
    for same in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert same == value
        assert repr(same) == repr(value)
    assert set(value.__struct_fields__) <= set(dir(value))
    assert {"parse", "tokens_per_second"} <= set(dir(VALUES["Completion"]))


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_an_attribute_is_read_as_of_any_struct(value):
    """With ``__getattr__`` every read would take a slower way."""
    assert not [kind for kind in type(value).__mro__ if "__getattr__" in vars(kind)]
    assert not [
        kind for kind in type(value).__mro__ if "__getattribute__" in vars(kind) and kind is not object
    ]
    assert issubclass(type(value), msgspec.Struct)


def test_any_other_name_is_refused_as_python_refuses_it():
    with pytest.raises(AttributeError, match=r"^'Completion' object has no attribute 'txet'$"):
        _ = VALUES["Completion"].txet
