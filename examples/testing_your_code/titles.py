"""The code under test: a title for a note by a model, and without one when the model fails."""

from __future__ import annotations

import svir


def title_of(client: svir.Client, note: str) -> str:
    """A title for a note; its first line when the server gives none in time."""
    try:
        answer = client.complete(note, system="Answer with a title for this note.", max_tokens=50)
    except svir.Error:
        return note.partition("\n")[0]
    return answer.text.strip().strip('"')
