"""Many questions at once: one a line on standard input, each answer printed as soon as it is there.

    python examples/many.py http://127.0.0.1:8080 qwen3-27b 8 < questions.txt

A failed call is an outcome like any other: it ends neither the rest nor the program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import svir
from svir.layers import Retry


def main(url: str = "http://127.0.0.1:8080", model: str = "qwen3-27b", concurrency: str = "8") -> None:
    asked: list[str] = []

    def questions() -> Iterator[str]:
        # Read one by one, as calls end: standard input may be endless.
        for line in sys.stdin:
            if question := line.strip():
                asked.append(question)
                yield question

    with (
        svir.Client.openai(
            url, model=model, api_key=os.environ.get("SVIR_KEY"), layers=[Retry.transient(3)]
        ) as client,
        client.complete_all(questions(), concurrency=int(concurrency), max_tokens=200) as outcomes,
    ):
        for number, outcome in outcomes:
            said = f"[{outcome}]" if isinstance(outcome, svir.Error) else outcome.text
            print(f"{asked[number]} {said}", flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except svir.Error as error:
        sys.exit(str(error))
