"""Prints an answer while it arrives: its text to standard output, everything else to standard error.

    python examples/stream.py http://127.0.0.1:8080 qwen3-27b "Why do rivers meander?"

Ctrl-C leaves the block, which closes the connection and so ends the work at the server.
"""

from __future__ import annotations

import os
import sys

import svir
from svir import Completed, ReasoningDelta, TextDelta, ToolCallDelta


def main(
    url: str = "http://127.0.0.1:8080",
    model: str = "qwen3-27b",
    question: str = "Why do rivers meander?",
) -> None:
    with (
        svir.Client.openai(url, model=model, api_key=os.environ.get("SVIR_KEY")) as client,
        client.stream(question) as stream,
    ):
        for event in stream:
            match event:
                case TextDelta(text):
                    print(text, end="", flush=True)
                case ReasoningDelta(_, text):
                    print(text, end="", flush=True, file=sys.stderr)
                case ToolCallDelta():
                    pass  # to show that one is coming; what to answer is in answer.calls
                case Completed(answer):
                    print()
                    speed = answer.tokens_per_second
                    told = "" if speed is None else f", {speed:.1f} tokens/s"
                    print(f"[{answer.finish}{told}]", file=sys.stderr)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except svir.Error as error:
        # What was printed is a part of an answer, and error.partial has it, too.
        sys.exit(f"\n{error}")
    except KeyboardInterrupt:
        sys.exit(130)
