from __future__ import annotations

import sys
import warnings

import pytest

from svir.tools import Tools, _docstring
from svir.tools._docstring import read_docstring

GOOGLE = """Looks.

    Twice.

    Args:
        city: Its name,
            in English.
        days (int): How many.

    Returns:
        What it saw.
    """
NUMPY = """Looks.

    Twice.

    Parameters
    ----------
    city : str
        Its name,
        in English.
    days : int, optional
        How many.

    Returns
    -------
    str
        What it saw.
    """
SPHINX = """Looks.

    Twice.

    :param city: Its name,
        in English.
    :param int days: How many.
    :returns: What it saw.
    """


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_three_styles_are_read(doc):
    said, parameters = read_docstring(doc)
    assert said == "Looks.\n\nTwice."
    assert parameters == {"city": "Its name,\nin English.", "days": "How many."}


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_without_the_library_the_first_paragraph_is_read_and_it_is_said_once(doc, monkeypatch):
    monkeypatch.setitem(sys.modules, "docstring_parser", None)
    monkeypatch.setattr(_docstring, "_told", [])
    with pytest.warns(UserWarning, match=r"pip install 'svir\[tools\]'") as said:
        read = [read_docstring(doc) for _ in range(2)]
    assert read == [("Looks.", {})] * 2
    assert len(said) == 1


def made(function):
    Tools(function)


def added(function):
    Tools().add(function)


def decorated(function):
    Tools().add(description="Looks.")(function)


@pytest.mark.parametrize("add", [made, added, decorated])
def test_what_is_said_points_at_the_line_that_added_the_tool_and_names_it(add, monkeypatch):
    def weather(city: str) -> str:
        return city

    weather.__doc__ = GOOGLE
    monkeypatch.setitem(sys.modules, "docstring_parser", None)
    monkeypatch.setattr(_docstring, "_told", [])
    with pytest.warns(
        UserWarning, match="the docstring of the tool weather describes its parameters"
    ) as said:
        add(weather)
    assert (said[0].filename, said[0].lineno) == (__file__, add.__code__.co_firstlineno + 1)


def test_what_is_said_as_an_error_is_said_again(monkeypatch):
    monkeypatch.setitem(sys.modules, "docstring_parser", None)
    monkeypatch.setattr(_docstring, "_told", [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(UserWarning, match="the tool weather"):
                read_docstring(GOOGLE, "weather")


@pytest.mark.parametrize("doc", ["Looks.", "Looks.\n\nIts args: none.\n\nReturns:\n    What it saw."])
def test_without_the_library_nothing_is_said_where_no_parameter_is_described(doc, monkeypatch):
    monkeypatch.setitem(sys.modules, "docstring_parser", None)
    monkeypatch.setattr(_docstring, "_told", [])
    assert read_docstring(doc) == ("Looks.", {})


@pytest.mark.parametrize("doc", [None, "", "  \n "])
def test_no_docstring_says_nothing(doc):
    assert read_docstring(doc) == ("", {})


@pytest.mark.parametrize(
    "doc",
    [":param", ":param:", "Look.\n\nParameters\n---", "Args:\n", ":param a b c d: x", "Look\n\n:raises"],
)
def test_odd_docstrings_are_read_as_they_are(doc):
    said, _ = read_docstring(doc)
    assert isinstance(said, str)


def test_what_the_library_cannot_read_gives_its_first_paragraph(monkeypatch):
    import docstring_parser

    def parse(text):
        raise docstring_parser.ParseError

    monkeypatch.setattr(docstring_parser, "parse", parse)
    assert read_docstring("Looks.\n\nMore.") == ("Looks.", {})
