"""JSON text into a type: msgspec's conversion, and pydantic models by duck typing.

An error's text is made of the type's own words and msgspec's path, never of what a server sent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from svir.errors import AnswerError

if TYPE_CHECKING:
    from svir.types._response import Completion

__all__ = ["from_json"]

T = TypeVar("T")

# msgspec's texts that hold types and field names of the caller's own type only.
OWN_WORDS = re.compile(r"Expected `[^`]*`(?:, got `\w+`)?(?: - at `\$[\w.\[\]]*`)?")


def from_json(text: str, kind: type[T], what: str, completion: Completion | None = None) -> T:
    """Reads JSON text into a type.

    Raises:
        svir.AnswerError: The text is no JSON, or does not fit the type.
    """
    validate = cast("Any", getattr(kind, "model_validate_json", None))  # a pydantic model
    try:
        if validate is not None:
            return cast("T", validate(text))
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        own = OWN_WORDS.fullmatch(str(error))
        problem = f"{what} do not fit {_name(kind)}" + (f": {own.group()}" if own else "")
    except msgspec.DecodeError:
        problem = f"{what} are no JSON"
    except RecursionError:
        problem = f"{what} are nested too deeply"
    except ValueError:  # pydantic's ValidationError is one; UnicodeEncodeError for lone surrogates too
        problem = f"{what} do not fit {_name(kind)}"
    # Raised outside the handlers, so that no foreign exception, which quotes the text, stays reachable.
    raise AnswerError(problem, completion=completion)


def _name(kind: object) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)
