"""Lists the models that a server has, one a line.

    python examples/models.py http://127.0.0.1:8080 qwen3-27b

A server that lists none answers all the same: then this prints nothing. With a model's ID, that one alone.
"""

from __future__ import annotations

import os
import sys

import svir


def main(url: str = "http://127.0.0.1:8080", wanted: str = "") -> None:
    with svir.Client.openai(url, api_key=os.environ.get("SVIR_KEY")) as client:
        for model in client.models():
            if wanted in {"", model.id}:
                print(model.id if model.name is None else f"{model.id} ({model.name})")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except svir.Error as error:
        sys.exit(str(error))
