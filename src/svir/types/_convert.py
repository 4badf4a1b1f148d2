"""JSON text into a type: msgspec's conversion, and pydantic models by duck typing.

1. An error's text is made of the type's own words and of places in it, never of what a server sent.
2. A type that nothing can be read into is the caller's fault, a ``ConfigError``; what does not fit is the
   answer's.
3. msgspec must tell the members of a union apart by their JSON; where it cannot, at the top of a type, they
   are tried one after the other, and the first that fits is taken.
"""

from __future__ import annotations

import re
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin

import msgspec

from svir.errors import AnswerError, ConfigError
from svir.types._models import model_problem, model_reader, unusable_model
from svir.types._show import shown_text
from svir.types._value import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import TypeForm

    from svir.types._response import Completion

__all__ = ["alternatives", "from_json", "type_name"]

T = TypeVar("T")

# What msgspec says of a type alone. The texts that quote what was read come last, and lose the quotation.
OWN_WORDS = re.compile(
    r"(?:Expected |Object missing required field |Invalid (?:RFC3339|ISO8601|UUID|base64|decimal)).*"
    r"|.* out of range.*"
)
QUOTING = re.compile(r"(Invalid (?:enum )?value) (?:'.*?'|\".*?\"|-?\d+)( - at `\$[\w.\[\]]*`)?", re.DOTALL)

FENCED = re.compile(r"^```\w*\s*[\[{]", re.MULTILINE)
"""JSON as Markdown has it, perhaps after some words."""

NO_JSON = ("json invalid", "string unicode at `$`")
"""What pydantic calls it."""


class _MisfitError(ValueError):
    """A model inside another type does not fit; its text may be shown."""


class _CheckError(msgspec.ValidationError):
    """A type's own check raised what is no ``ValueError``; its text may be shown."""


class _UnreadableError(ValueError):
    """A class that is read in no known way, met inside another type."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self.kind = kind


def type_name(type: TypeForm[Any]) -> str:  # noqa: A002 (the word says it best)
    """A type's name as it is shown: ``River``, ``list[River]``, ``River | None``."""
    kind: Any = type
    if get_origin(kind) is Annotated:
        return type_name(get_args(kind)[0])
    name = str(kind) if get_args(kind) else getattr(kind, "__name__", str(kind))
    return re.sub(r"(?:\w+\.|<locals>\.)+(?=\w)", "", name)


def alternatives(type: TypeForm[Any]) -> tuple[Any, ...]:  # noqa: A002
    """The types to read text into, one after the other: the type itself wherever msgspec reads it.

    Raises:
        svir.ConfigError: Nothing can be read into the type.
    """
    kind: Any = type
    if isinstance(kind, str):
        raise ConfigError(
            f"nothing can be read into the name {shown_text(kind)}: give the type itself, not its name"
        )
    try:
        msgspec.json.Decoder(kind)
    except (TypeError, NameError) as error:
        problem = str(error)
    else:
        return (kind,)
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in {Union, UnionType}:
        return tuple(one for member in get_args(kind) for one in alternatives(member))
    raise ConfigError(f"nothing can be read into {type_name(kind)}: {problem}")


def from_json(text: str, kind: TypeForm[T], what: str, completion: Completion | None = None) -> T:
    """Reads JSON text into a type.

    Raises:
        svir.AnswerError: The text is no JSON, or does not fit the type.
        svir.ConfigError: Nothing can be read into the type.
    """
    value, problem = _read(plain(text), kind)
    if problem:
        # Raised outside the handlers, so that no foreign exception, which quotes the text, stays reachable.
        raise AnswerError(f"{what} {problem}", completion=completion)
    return cast("T", value)


def _read(text: str, kind: Any) -> tuple[object, str]:
    """The value, or what is wrong with the text."""
    unfit = f"does not fit {type_name(kind)}"
    try:
        if (read := model_reader(kind)) is not None:
            return _checked(read, text, kind), ""
        try:
            decode = msgspec.json.Decoder(kind, dec_hook=_class_inside).decode
        except (TypeError, NameError):
            pass
        else:
            return _checked(decode, text, kind), ""
        for one in alternatives(kind):
            decode = msgspec.json.Decoder(one, dec_hook=_class_inside).decode
            try:
                return _checked(decode, text, kind), ""
            except msgspec.ValidationError:
                pass
    except msgspec.ValidationError as error:
        if not isinstance(error.__cause__, _UnreadableError):
            return None, _joined(unfit, _own_words(error))
        unreadable = type_name(error.__cause__.kind)
    except (msgspec.DecodeError, UnicodeError):
        return None, _no_json(text)
    except RecursionError:
        return None, "is nested too deeply"
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        said = model_problem(error, kind)
        return None, _no_json(text) if said.startswith(NO_JSON) else _joined(unfit, said)
    else:
        return None, unfit
    raise ConfigError(f"nothing can be read into {unreadable}, which {type_name(kind)} holds")


def _no_json(text: str) -> str:
    if not text.strip():
        return "is empty"
    return "is no JSON (it is inside a code fence)" if FENCED.search(text) else "is no JSON"


def _checked(read: Callable[[str], object], text: str, kind: Any) -> object:
    """Reads text; checks of the type's own (validators, ``__post_init__``) may raise whatever they like."""
    try:
        return read(text)
    except (ValueError, RecursionError):  # of msgspec and pydantic, and what a check should raise
        raise
    except Exception as error:  # noqa: BLE001 (all others are a check's, or tell that the type is not usable)
        unusable, raised = unusable_model(error), type(error).__name__
    if unusable:
        raise ConfigError(f"nothing can be read into {type_name(kind)}: {unusable}")
    raise _CheckError(f"a check of its own raised {raised}")


def _class_inside(kind: Any, data: object) -> object:
    """Reads what msgspec does not know: a model, from the JSON that it would have been sent alone."""
    read = model_reader(kind)
    if read is None:
        raise _UnreadableError(kind)
    try:
        return read(msgspec.json.encode(data))
    except ValueError as error:
        said = model_problem(error, kind)
    raise _MisfitError(f"Expected `{kind.__name__}`" + (f" ({said})" if said else ""))


def _own_words(error: msgspec.ValidationError) -> str:
    """What msgspec says without quoting what it read."""
    text = str(error)
    if (
        isinstance(error, _CheckError)
        or isinstance(error.__cause__, _MisfitError)
        or (error.__cause__ is None and OWN_WORDS.fullmatch(text))
    ):
        return text
    if error.__cause__ is None and (quoting := QUOTING.fullmatch(text)):
        return "".join(part for part in quoting.groups() if part)
    return ""


def _joined(problem: str, detail: str) -> str:
    return f"{problem}: {detail}" if detail else problem
