"""Layers around every call: retries, limits of time, and one's own that counts what was spent.

    python examples/layers.py http://127.0.0.1:8080 qwen3-27b

The first layer is the outermost. So ``spending`` sees each call once, the five minutes are for all tries
together, and the one minute is for each of them.
"""

from __future__ import annotations

import os
import sys

import svir
from svir.layers import Retry, Timeout

QUESTIONS = ("Why do rivers meander?", "Why is the sea salty?")


class Spending:
    """A layer of one's own: adds up tokens and failures. Under ``AsyncClient`` it would be ``async``."""

    def __init__(self) -> None:
        self.tokens = self.failures = 0

    def __call__(self, request: svir.Request, rest: svir.Next) -> svir.Stream:
        stream = rest(request)
        stream.inspect(self.watch)
        return stream

    def watch(self, event: svir.Event | svir.Error) -> None:
        if isinstance(event, svir.Completed) and event.completion.usage is not None:
            self.tokens += event.completion.usage.input + event.completion.usage.output
        elif isinstance(event, svir.Error):
            self.failures += 1


def main(url: str = "http://127.0.0.1:8080", model: str = "qwen3-27b", patience: str = "60") -> None:
    spending = Spending()
    each = Timeout.first_token(float(patience))
    with svir.Client.openai(
        url,
        model=model,
        api_key=os.environ.get("SVIR_KEY"),
        layers=[spending, Timeout.total(300), Retry.transient(2), each],
    ) as client:
        for question in QUESTIONS:
            try:
                print(client.complete(question, max_tokens=200).text)
            except svir.Error as error:
                print(f"[{error}]")
    print(f"[{spending.tokens} tokens, {spending.failures} answers that broke off]")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except svir.Error as error:
        sys.exit(str(error))
