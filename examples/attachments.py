"""Asks about images and text files, which are read from disk while they are sent.

    python examples/attachments.py http://127.0.0.1:8080 qwen3-27b "What changed?" before.png diff.patch

Whatever their size, they take little memory. They must not change until the request was sent.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import svir

IMAGES = {".gif", ".jpeg", ".jpg", ".png", ".webp"}


def attached(path: str) -> svir.Image | svir.TextFile:
    """The file as an image, if its ending says so, else as text. Nothing is read yet."""
    return svir.Image(path) if Path(path).suffix.lower() in IMAGES else svir.TextFile(path)


def main(url: str, model: str, question: str, *paths: str) -> None:
    with svir.Client.openai(url, model=model, api_key=os.environ.get("SVIR_KEY")) as client:
        answer = client.complete(svir.user(question, *map(attached, paths)), max_tokens=500)
    print(answer.text)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except svir.AttachmentError as error:
        sys.exit(f"A file cannot be sent: {error.detail}")
    except svir.Error as error:
        sys.exit(str(error))
