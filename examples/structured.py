"""An answer of a type: the type's JSON Schema is sent along, and the answer is read into it.

    python examples/structured.py http://127.0.0.1:8080 qwen3-27b "southern Norway"

Whether a server keeps to the schema is the server's business; svir looks at what came.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Annotated

import svir


@dataclass
class River:
    """A river."""

    name: str
    length_km: Annotated[float, "from its source to its mouth"]
    mouth: Annotated[str | None, "the sea, lake or river it flows into"] = None


def main(
    url: str = "http://127.0.0.1:8080",
    model: str = "qwen3-27b",
    where: str = "southern Norway",
) -> None:
    with svir.Client.openai(url, model=model, api_key=os.environ.get("SVIR_KEY")) as client:
        try:
            rivers = client.parse(list[River], f"The three longest rivers of {where}.", max_tokens=1000)
        except svir.AnswerError as error:  # there is an answer, but it cannot be read as one
            said = "" if error.completion is None else error.completion.text
            sys.exit(f"{error}\n{said}".strip())
    for river in sorted(rivers, key=lambda river: -river.length_km):
        print(f"{river.name}, {river.length_km:g} km, into {river.mouth or 'who knows what'}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except svir.Error as error:
        sys.exit(str(error))
