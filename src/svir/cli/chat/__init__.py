"""`svir chat`: a conversation with a model, in the terminal or over a pipe.

`_session` is the conversation, `_commands` what can be typed, `_files` what is read and written: none of
them knows a terminal. `_prompt` is where a person's messages come from; `_answer`, `_markdown` and `_screen`
how an answer looks, `_keyboard` what Ctrl-C does meanwhile; `_chat` brings them together.
"""

from __future__ import annotations

__all__: list[str] = []
