"""A conversation in the terminal. Ctrl-C stops an answer, Ctrl-D ends the program.

    python examples/chat.py http://127.0.0.1:8080 qwen3-27b

Answers that broke off, and what was asked for them, are no part of the conversation.
"""

from __future__ import annotations

import os
import sys

import svir


def answer(client: svir.Client, request: svir.Request) -> svir.Completion:
    """Prints the answer as it arrives, and returns it whole."""
    with client.stream(request) as stream:
        for text in stream.text():
            print(text, end="", flush=True)
        return stream.complete()


def main(url: str = "http://127.0.0.1:8080", model: str = "qwen3-27b") -> None:
    conversation = svir.Request(system="Be brief.")
    with svir.Client.openai(url, model=model, api_key=os.environ.get("SVIR_KEY")) as client:
        while True:
            try:
                question = input("> ")
            except (EOFError, KeyboardInterrupt):
                print()
                return
            asked = conversation.with_turns(question)
            try:
                # Only a whole answer becomes part of the conversation, and so does its question.
                conversation = asked.with_turns(answer(client, asked))
            except svir.ContextOverflowError:
                conversation = conversation.replace(messages=conversation.messages[2:])
                print("[too long: the oldest question is forgotten, ask again]", end="")
            except svir.Error as error:
                print(f"[{error}]", end="")
            except KeyboardInterrupt:
                print("[stopped]", end="")
            print()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except svir.Error as error:
        sys.exit(str(error))
