"""One question, its whole answer, and what to do when there is none.

    python examples/complete.py http://127.0.0.1:8080 qwen3-27b "Why do rivers meander?"

As in every example, a key comes from the environment variable SVIR_KEY, when there is one.
"""

from __future__ import annotations

import os
import sys

import svir


def main(
    url: str = "http://127.0.0.1:8080",
    model: str = "qwen3-27b",
    question: str = "Why do rivers meander?",
) -> None:
    with svir.Client.openai(url, model=model, api_key=os.environ.get("SVIR_KEY"), timeout=600) as client:
        try:
            answer = client.complete(question, system="Be brief.", max_tokens=500)
        except svir.ContextOverflowError:
            sys.exit("The question is longer than what the model can read.")
        except svir.RateLimitError as error:
            sys.exit(f"The server is busy. Try again in {error.retry_after or 30:g} seconds.")
        except svir.Error as error:
            # The error's own text is safe to log. What the server said is apart from it, for the user alone.
            sys.exit("\n".join(filter(None, [str(error), error.server_message])))

    print(answer.text)
    if answer.finish == svir.FinishReason.LENGTH:
        print("(cut: 500 tokens were not enough)")
    if answer.usage is not None:
        print(f"({answer.usage.input} tokens in, {answer.usage.output} out)")


if __name__ == "__main__":
    main(*sys.argv[1:])
