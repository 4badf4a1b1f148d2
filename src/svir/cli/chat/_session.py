"""A conversation: what was said, what is asked next, and what becomes of an answer. It does no I/O.

1. A question becomes a turn of the conversation together with its answer. Until then it stands apart
   (`question`), so that `again` asks the same, and one that failed is not sent along with the next one.
2. What was shown of an answer that broke off is an answer, if there is any text: the model's turn, since the
   user has read it and may refer to it (S102). An answer without text, or one that the server's filter
   withdrew, is none.
3. A conversation is stored with the question that has no answer as its last turn, and read back so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import svir
from svir.cli._refused import RefusedError

if TYPE_CHECKING:
    from svir.cli.chat._files import Stored

__all__ = ["Session", "Spent"]

AGAIN = "/retry asks again."


class Spent:
    """The tokens of a chat, as far as the server counted them.

    Attributes:
        answers: How many answers came to their end.
        counted: For how many of them there were counts.
        last: Those of the last answer.
    """

    def __init__(self) -> None:
        self.answers = self.counted = 0
        self.last: svir.Usage | None = None
        self._sums = dict[str, int]()

    def add(self, usage: svir.Usage | None) -> None:
        """Counts one more answer."""
        self.answers += 1
        self.last = usage
        if usage is not None:
            self.counted += 1
            for name in ("input", "output", "reasoning", "cached"):
                if (tokens := getattr(usage, name)) is not None:
                    self._sums[name] = self._sums.get(name, 0) + tokens

    def lines(self) -> tuple[str, ...]:
        """What is known, for a person."""
        if not self.answers:
            return ("no answer yet",)
        last = "no token counts sent" if self.last is None else _tokens(self.last)
        whole = f"{self.answers} answer" + ("s" if self.answers > 1 else "")
        if self.counted:
            sums = self._sums
            whole += ": " + _tokens(
                svir.Usage(
                    sums["input"],
                    sums["output"],
                    reasoning=sums.get("reasoning"),
                    cached=sums.get("cached"),
                )
            )
        if missing := self.answers - self.counted:
            whole += f"; no token counts for {missing}"
        return (f"last answer: {last}", f"this chat: {whole}")


def _tokens(usage: svir.Usage) -> str:
    cached = "" if usage.cached is None else f" ({usage.cached} cached)"
    reasoning = "" if usage.reasoning is None else f" ({usage.reasoning} reasoning)"
    return f"{usage.input} tokens in{cached}, {usage.output} out{reasoning}"


class Session:
    """One conversation.

    Args:
        request: The settings, and what was said before.

    Attributes:
        request: The settings, and the turns so far: questions that have an answer, with it.
        question: What was asked, while it has no answer.
        attached: What goes with the next question.
        reasoning: The reasoning of the last answer.
        spent: The tokens.
    """

    def __init__(self, request: svir.Request) -> None:
        self._begin(request)

    def _begin(self, request: svir.Request) -> None:
        self.request = request
        self.question: svir.Message | None = None
        self.attached: tuple[svir.TextFile | svir.Image, ...] = ()
        self.reasoning = ""
        self.spent = Spent()

    def change(self, **settings: object) -> None:
        """Other settings: fields of a request."""
        self.request = self.request.replace(**settings)

    def attach(self, part: svir.TextFile | svir.Image) -> None:
        """Adds to what goes with the next question."""
        self.attached += (part,)

    def ask(self, text: str) -> svir.Request:
        """The request for a new question. One that had no answer is forgotten.

        Raises:
            RefusedError: No model is chosen.
        """
        self._require_model()
        self.question, self.attached = svir.user(text, *self.attached), ()
        return self.request.with_turns(self.question)

    def again(self) -> svir.Request:
        """The request for the last question, whose answer, if it has one, is forgotten.

        Raises:
            RefusedError: Nothing was asked, or no model is chosen.
        """
        self._require_model()
        if self.question is None:
            turns = self.request.messages
            asked = [n for n, turn in enumerate(turns) if turn.role is svir.Role.USER]
            if not asked:
                raise RefusedError("nothing was asked yet")
            self.question = turns[asked[-1]]
            self.change(messages=turns[: asked[-1]])
        return self.request.with_turns(self.question)

    def answered(self, completion: svir.Completion) -> str:
        """Takes a whole answer in, and says what became of it when that is not plain."""
        self.spent.add(completion.usage)
        self.reasoning = "".join(part.text for part in completion.reasoning)
        if completion.finish is svir.FinishReason.CONTENT_FILTER:
            return f"It is not kept. {AGAIN}"
        # Calls stay out: nobody answers them here, and a server refuses a conversation with open calls.
        if not self._keep(completion.text, *completion.reasoning):
            return f"There is no text to keep. {AGAIN}"
        return ""

    def stopped(self, shown: svir.Partial) -> str:
        """Takes in what was shown of an answer that broke off, and says what became of it."""
        self.reasoning = shown.reasoning
        if self._keep(shown.text):
            return f"What was printed is kept as the model's turn. {AGAIN}"
        return AGAIN

    def clear(self) -> None:
        """Starts anew; the settings stay."""
        self._begin(self.request.replace(messages=()))

    def stored(self) -> svir.Request:
        """All of it, to be stored."""
        return self.request if self.question is None else self.request.with_turns(self.question)

    def restore(self, stored: Stored) -> tuple[str, ...]:
        """Goes on with a stored conversation in the place of this one, and says what it holds."""
        given = stored.conversation
        request = self.request.replace(messages=given) if isinstance(given, tuple) else given
        turns, notes = request.messages, list[str]()
        self._begin(request.replace(model=request.model or self.request.model, tools=(), tool_choice="auto"))
        notes.append(f"turns loaded: {len(turns)}" + (f", model {request.model}" if request.model else ""))
        if turns and turns[-1].role is svir.Role.USER:
            self.question = turns[-1]
            self.change(messages=turns[:-1])
            notes.append("Its last question has no answer: /retry asks it.")
        if request.tools:
            notes.append("Its tools are left out: there is nobody here to answer calls.")
        notes += [f"It has the file {path}, as it is now." for path in stored.paths]
        return tuple(notes)

    def _keep(self, text: str, *reasoning: svir.Reasoning) -> bool:
        if self.question is None or not text.strip():
            return False
        self.request = self.request.with_turns(self.question, svir.assistant(*reasoning, text))
        self.question = None
        return True

    def _require_model(self) -> None:
        if not self.request.model:
            raise RefusedError(
                "no model is chosen", "/model lists the server's models, and /model ID chooses one."
            )
