"""A call's arguments, from the text a model wrote into what a handler takes.

1. Everything is read before the handler is called; what does not fit never reaches it (D18).
2. All that is wrong is told at once, shortly, and by the parameters' names: the model can then do better.
3. Whatever the text is, ``Unfit`` is all that comes out.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from svir.types._models import is_model, model_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["Named", "Parameter", "Unfit", "Whole", "clipped", "reader_of"]

LONGEST_NAME = 64
LONGEST_PROBLEM = 300
MOST_PROBLEMS = 5

PLACED = re.compile(r"(.*) - at (`key` in )?`\$(.*)`", re.DOTALL)
"""A problem of msgspec's that is not at the root."""

OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Unfit(Exception):  # noqa: N818 (it becomes a result, not an error)
    """Arguments that do not fit; its text is for the model."""


class Parameter(NamedTuple):
    """A parameter that the model fills in."""

    name: str
    read: Callable[[bytes], object]
    required: bool
    choices: tuple[object, ...] = ()
    """All the values there are, when they are few and fixed."""


class Named:
    """Reads arguments for a function that takes each by its name."""

    def __init__(self, parameters: Iterable[Parameter]) -> None:
        self.parameters = {parameter.name: parameter for parameter in parameters}

    def __call__(self, arguments: str) -> tuple[tuple[object, ...], dict[str, object]]:
        """The positional and the named arguments.

        Raises:
            Unfit: They are no JSON object, or do not fit.
        """
        given = _object(arguments)
        read: dict[str, object] = {}
        problems: list[str] = []
        for name, parameter in self.parameters.items():
            if name in given:
                try:
                    read[name] = parameter.read(bytes(given[name]))
                except Exception as error:  # noqa: BLE001 (a type's own checks raise what they like)
                    problems += _problems(error, name, parameter.choices)
            elif parameter.required:
                problems.append(f"{name}: missing")
        for name in given.keys() - self.parameters.keys():
            problems.append(f"{clipped(name, LONGEST_NAME)}: there is no such parameter")
        if problems:
            raise _unfit(problems)
        return (), read


class Whole:
    """Reads arguments for a handler that takes all of them as one value."""

    def __init__(self, read: Callable[[bytes], object]) -> None:
        self.read = read

    def __call__(self, arguments: str) -> tuple[tuple[object, ...], dict[str, object]]:
        """The positional and the named arguments.

        Raises:
            Unfit: They are no JSON object, or do not fit.
        """
        _object(arguments)
        try:
            return (self.read(_text(arguments).encode()),), {}
        except Exception as error:  # noqa: BLE001 (a type's own checks raise what they like)
            problems = list(_problems(error, "", ()))
        raise _unfit(problems)


def reader_of(hint: Any, *, lax: bool) -> Callable[[bytes], object]:
    """What reads JSON text into a type. Pydantic models read themselves, by their own settings.

    Raises:
        TypeError: msgspec cannot read such a type.
    """
    return model_reader(hint) or msgspec.json.Decoder(hint, strict=not lax, dec_hook=_read_model).decode


def clipped(text: str, most: int) -> str:
    """A text for a result: not longer than that, and valid Unicode."""
    short = text if len(text) <= most else f"{text[:most]}..."
    return short.encode("utf-8", "replace").decode()


def _read_model(kind: type, data: object) -> object:
    """A model somewhere inside what msgspec reads."""
    read = model_reader(kind) if is_model(kind) else None
    if read is None:
        raise NotImplementedError
    try:
        return read(msgspec.json.encode(data))
    except ValueError as error:
        problem = "; ".join(_problems(error, "", ()))
    raise ValueError(problem)


def _text(arguments: str) -> str:
    return arguments if arguments.strip() else "{}"


def _object(arguments: str) -> Mapping[str, msgspec.Raw]:
    try:
        return OBJECT.decode(_text(arguments))
    except msgspec.ValidationError:
        problem = "not a JSON object"
    except ValueError:  # msgspec's DecodeError; lone surrogates
        problem = "not valid JSON"
    except RecursionError:
        problem = "nested too deeply"
    raise _unfit([problem])


def _unfit(problems: list[str]) -> Unfit:
    told = [clipped(problem, LONGEST_PROBLEM) for problem in problems[:MOST_PROBLEMS]]
    if more := len(problems) - len(told):
        told.append(f"and {more} more")
    return Unfit(f"invalid arguments: {'; '.join(told)}")


def _problems(error: Exception, name: str, choices: tuple[object, ...]) -> Iterator[str]:
    """What is wrong, each with its place: ``place.lat: expected float, got str``."""
    listed = getattr(error, "errors", None)
    if isinstance(error, ValueError) and callable(listed):  # pydantic's
        for one in cast("list[Mapping[str, Any]]", listed(include_url=False, include_input=False)):
            steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in one["loc"])
            yield _told(name + "".join(steps), str(one["msg"]))
    elif isinstance(error, RecursionError):
        yield _told(name, "nested too deeply")
    else:
        what, path = str(error) or type(error).__name__, ""
        if placed := PLACED.fullmatch(what):
            what, key, path = placed.groups()
            what = f"a key: {_lowered(what)}" if key else what
        elif choices:
            what = f"must be one of {', '.join(map(_shown, choices))}"
        yield _told(name + path, what)


def _told(place: str, what: str) -> str:
    what = _lowered(what.replace("`", ""))
    return f"{place.removeprefix('.')}: {what}" if place else what


def _lowered(what: str) -> str:
    return what[:1].lower() + what[1:]


def _shown(choice: object) -> str:
    return msgspec.json.encode(choice.value if isinstance(choice, Enum) else choice).decode()
