"""What the chunks of one answer add up to, and when that is a contradiction.

1. ``apply`` judges a whole chunk before any of it counts: a chunk contributes all of its events or none.
2. The order within a chunk: ``reasoning_content``, ``reasoning``, text, refusal, pieces of calls.
3. Nothing is executable before ``complete``: calls exist there only, and only when the answer is whole (D5).
4. What is kept is written to buffers that grow in place, so that each piece costs the same at any length.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Literal

from svir.codec._fault import Fault
from svir.codec._json import parse
from svir.codec._think import ThinkSplitter, may_open
from svir.errors import Partial, ProtocolError, TruncatedStreamError, UnsupportedError
from svir.openai.chat._calls import Calls
from svir.openai.chat._read import blocks
from svir.openai.chat._wire import NO_VERDICTS, Annotation
from svir.types import (
    Completion,
    FinishReason,
    Reasoning,
    ReasoningDelta,
    TextDelta,
    Timing,
    ToolCall,
    ToolCallDelta,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

    from svir.codec._options import Mode, Think
    from svir.openai.chat._wire import Chunk, Delta, WireUsage
    from svir.types import Event, ReasoningSource

__all__ = ["Answer", "Kind"]

STOP, LENGTH = FinishReason.STOP, FinishReason.LENGTH  # a member is found slowly in its class
TOOL_CALLS, CONTENT_FILTER, REFUSAL = (
    FinishReason.TOOL_CALLS,
    FinishReason.CONTENT_FILTER,
    FinishReason.REFUSAL,
)

Kind = Literal["content", "reasoning_content", "reasoning", "arguments"]
"""What a plain chunk is a piece of."""


class Answer:
    """One answer as far as it came.

    The attributes without an underscore are read and written by the fast path (``_fast.py``) as well.
    """

    __slots__ = (
        "_blocked",
        "_clock",
        "_first",
        "_harmless",
        "_last",
        "_splits",
        "_started",
        "_strict",
        "_usage",
        "calls",
        "finish",
        "id",
        "index",
        "model",
        "reasoning",
        "refused",
        "splitter",
        "text",
        "visible",
    )

    def __init__(self, mode: Mode, tool_calls: int, think: Think, clock: Callable[[], float]) -> None:
        self._strict = mode == "strict"
        self._clock = clock
        self._started = clock()
        self._first: float | None = None
        self._last = self._started
        self.visible = False  # whether a visible token came since the last look at the clock
        self._splits = think == "split"
        self.splitter: ThinkSplitter | None = None  # from the first tag on
        self.text = StringIO()
        self.reasoning: dict[ReasoningSource, StringIO] = {}
        self.calls = Calls(tool_calls)
        self.id: str | None = None  # as first sent; in lenient mode the first that is not empty
        self.model: str | None = None
        self.index: int | None = None  # of the one choice that is read
        self.finish: str | None = None
        self.refused = False
        self._blocked = False
        self._usage: WireUsage | None = None
        self._harmless = NO_VERDICTS  # the last verdicts that do not block

    def apply(self, chunk: Chunk, events: list[Event]) -> None:
        """Takes a chunk and appends its events.

        Raises:
            Fault: It contradicts what came before; then nothing of it was taken.
        """
        choices, usage = chunk.choices, chunk.usage
        choice = choices[0] if choices else None  # they are at most one
        # D35: an annotation's empty id and model are not the answer's.
        renamed = (chunk.id != self.id or chunk.model != self.model) and type(choice) is not Annotation
        if renamed and self._strict and self.index is not None:
            self._check_names(chunk)
        if (usage is not None or choice is None) and self._strict:
            self._check_usage(chunk)
        brings: object = None
        if choice is not None:
            delta = choice.delta
            # An empty delta, or a repeated role, is no content. What is likely comes first.
            brings = (
                delta.content
                or delta.tool_calls
                or delta.reasoning_content
                or delta.reasoning
                or delta.refusal
            )
            if brings:
                if self.finish:
                    raise Fault(UnsupportedError, "content after the finish reason")  # D35
                if self.refused or delta.refusal:
                    self._check_refusal(delta)
                if delta.tool_calls:
                    self.calls.check(delta.tool_calls)
            if self.finish and choice.finish_reason:
                self._check_finish(choice.finish_reason)
        # From here on nothing fails.
        if renamed:
            if not self.id and chunk.id is not None:
                self.id = chunk.id
            if not self.model and chunk.model is not None:
                self.model = chunk.model
        if usage is not None:
            self._usage = usage
        if choice is None:
            return
        self.index = choice.index
        if choice.content_filter_results is not NO_VERDICTS and self._blocks(choice.content_filter_results):
            self._blocked = True  # D35: a verdict alone does not end the answer
        if brings:
            self._take_delta(choice.delta, events)
        if choice.finish_reason:
            self.finish = choice.finish_reason

    def take_plain(self, chunk: Chunk, events: list[Event]) -> Kind | Literal["other"] | None:
        """Takes a chunk that is nothing but one piece of one kind, as ``apply`` takes it.

        For the middle of an answer: a choice with the index 0 was read, and no finish reason.

        Returns:
            What it is a piece of, ``other`` for none of the kinds alone; None when it is not plain, and then
            nothing was taken.

        Raises:
            Fault: It contradicts what came before; then nothing of it was taken.
        """
        choices = chunk.choices
        if self.refused or not choices or chunk.usage:
            return None
        choice = choices[0]
        delta = choice.delta
        if choice.finish_reason or delta.refusal:
            return None
        if (chunk.id != self.id and chunk.id is not None) or (
            chunk.model != self.model and chunk.model is not None
        ):
            return None
        if choice.content_filter_results is not NO_VERDICTS and self._blocks(choice.content_filter_results):
            return None
        text, first, second = delta.content, delta.reasoning_content, delta.reasoning
        if pieces := delta.tool_calls:
            if text or first or second:
                return None
            if len(pieces) == 1 and self.calls.add_plain(pieces[0], events):
                return "arguments"
            self.calls.check(pieces)
            self.calls.add(pieces, events)
            return "other"
        if text and not (first or second):
            if self.splitter is not None or "<" in text:
                self.add_content(text, events)
            else:
                self.visible = True
                self.text.write(text)
                events.append(TextDelta(text))
            return "content"
        if first and not (text or second):
            self.add_reasoning("reasoning_content", first, events)
            return "reasoning_content"
        if second and not (text or first):
            self.add_reasoning("reasoning", second, events)
            return "reasoning"
        if text or first != second:
            return None
        if first:  # D43
            self.add_reasoning("reasoning_content", first, events)
        return "other"

    def take_text(self, kind: Kind, index: int, text: str, events: list[Event]) -> None:
        """Takes one piece of a kind, as ``take_plain`` does; an empty one is nothing."""
        if not text:
            return
        if kind == "content":
            if self.splitter is not None or "<" in text:
                self.add_content(text, events)
            else:
                self.add_text(text, events)
        elif kind == "arguments":
            self.calls.add_arguments(index, text)
            events.append(ToolCallDelta(index, None, None, text))
        else:
            self.add_reasoning(kind, text, events)

    def take_texts(self, kind: Kind, index: int, texts: list[str], events: list[Event]) -> None:
        """Takes many pieces of one kind, each as ``take_plain`` takes one; empty ones are nothing."""
        if not all(texts):
            texts = [text for text in texts if text]
        joined = "".join(texts)
        if kind == "arguments":
            self.calls.add_arguments(index, joined)
            events += [ToolCallDelta(index, None, None, text) for text in texts]
            return
        if kind == "content":
            splitter = self.splitter
            if "<" in joined or (splitter is not None and splitter.held):
                for text in texts:
                    self.add_content(text, events)
                return
            if splitter is None or not splitter.inside:
                self.visible = self.visible or bool(joined)
                self.text.write(joined)
                events += map(TextDelta, texts)
                return
        if texts:
            source = "think" if kind == "content" else kind
            self.visible = True
            self.buffer(source).write(joined)
            events += [ReasoningDelta(source, text) for text in texts]

    def _check_names(self, chunk: Chunk) -> None:
        for key, new, known in (("id", chunk.id, self.id), ("model", chunk.model, self.model)):
            if new is not None and known is not None and new != known:
                raise Fault(ProtocolError, f"the {key} of the answer changes", "mode='lenient' ignores it")

    def _check_usage(self, chunk: Chunk) -> None:
        if chunk.usage is not None and self._usage is not None:
            raise Fault(ProtocolError, "usage is reported twice", "mode='lenient' takes the last")
        if not chunk.choices and not (self.finish and (chunk.usage or self._usage)):
            what = "a chunk without choices that does not bring usage after the finish reason"
            raise Fault(ProtocolError, what, "mode='lenient' ignores it")

    def _check_refusal(self, delta: Delta) -> None:
        # What came before is content unless it is a refusal: text, or what can be a tag.
        came = self.splitter is not None or (self.text.tell() > 0 and not self.refused)
        if delta.content or (delta.refusal and came):
            raise Fault(ProtocolError, "both content and a refusal in one answer")  # D42

    def _check_finish(self, new: str) -> None:
        if new not in {self.finish, "content_filter"}:
            raise Fault(ProtocolError, "a second finish reason that contradicts the first")

    def _blocks(self, verdicts: msgspec.Raw) -> bool:
        """Whether a filter's verdicts block; mostly they are the same again."""
        if verdicts == self._harmless:
            return False
        if blocks(parse(bytes(verdicts), strict=False)):
            return True
        self._harmless = verdicts.copy()
        return False

    def _take_delta(self, delta: Delta, events: list[Event]) -> None:
        if delta.reasoning_content:
            self.add_reasoning("reasoning_content", delta.reasoning_content, events)
        # D43: the same text under both keys is one piece.
        if delta.reasoning and delta.reasoning != delta.reasoning_content:
            self.add_reasoning("reasoning", delta.reasoning, events)
        if delta.content:
            self.add_content(delta.content, events)
        if delta.refusal:
            self.refused = True  # D42: it is the answer's text, and no think tags are looked for
            self.add_text(delta.refusal, events)
        if delta.tool_calls:
            self.calls.add(delta.tool_calls, events)

    def add_content(self, content: str, events: list[Event]) -> None:
        """Takes content, which may hold think tags."""
        splitter = self.splitter
        if splitter is None and self._splits and "<" in content and may_open(content):
            splitter = self.splitter = ThinkSplitter()
        if splitter is not None and (splitter.held or "<" in content):
            self._add_pieces(splitter.feed(content), events)
        elif splitter is not None and splitter.inside:
            self.add_reasoning("think", content, events)
        else:
            self.add_text(content, events)

    def add_text(self, text: str, events: list[Event]) -> None:
        """Takes text of the answer."""
        self.visible = True
        self.text.write(text)
        events.append(TextDelta(text))

    def add_reasoning(self, source: ReasoningSource, text: str, events: list[Event]) -> None:
        """Takes reasoning."""
        self.visible = True
        (self.reasoning.get(source) or self.buffer(source)).write(text)
        events.append(ReasoningDelta(source, text))

    def buffer(self, source: ReasoningSource) -> StringIO:
        """Where reasoning of a source is kept; sources stay in the order they first appeared."""
        if (buffer := self.reasoning.get(source)) is None:
            buffer = self.reasoning[source] = StringIO()
        return buffer

    def _add_pieces(self, pieces: list[tuple[bool, str]], events: list[Event]) -> None:
        for inside, piece in pieces:
            if inside:
                self.add_reasoning("think", piece, events)
            else:
                self.add_text(piece, events)

    def flush(self, events: list[Event]) -> None:
        """Hands out a held-back tail that never became a think tag."""
        if self.splitter is not None and self.splitter.held:
            self._add_pieces(self.splitter.flush(), events)

    def partial(self) -> Partial:
        """What came so far; a held-back tail is what the text around it is."""
        text = self.text.getvalue()
        reasoning = "".join(buffer.getvalue() for buffer in self.reasoning.values())
        if self.splitter is not None and self.splitter.held:
            if self.splitter.inside:
                reasoning += self.splitter.held
            else:
                text += self.splitter.held
        return Partial(text, reasoning)

    def stamp(self) -> None:
        """Notes the time of visible tokens (P7)."""
        self.visible = False
        self._last = self._clock()
        if self._first is None:
            self._first = self._last

    def complete(self, request_id: str | None, dropped: tuple[str, ...]) -> Completion:
        """The answer, after ``[DONE]``.

        Raises:
            Fault: It is not whole, or contradicts itself.
        """
        if self.finish is None:
            raise Fault(TruncatedStreamError, "[DONE] came without a finish reason")
        calls = self.calls.finish()
        finish = self._finish_reason(calls)
        reasoning: tuple[Reasoning, ...] = ()
        if self.reasoning:
            reasoning = tuple([Reasoning(source, text.getvalue()) for source, text in self.reasoning.items()])
        if self.visible:
            self.stamp()
        # A call that the length limit cut can look whole: it is never among those to answer.
        cut = finish is LENGTH
        return Completion(
            finish,
            self.text.getvalue(),
            reasoning=reasoning,
            calls=() if cut else calls,
            cut_calls=calls if cut else (),
            usage=None if self._usage is None else _usage(self._usage),
            timing=None if self._first is None else self._timing(self._first),
            response_id=self.id or None,
            model=self.model or None,
            raw_finish=self.finish,
            request_id=request_id,
            dropped=dropped,
        )

    def _finish_reason(self, calls: tuple[ToolCall, ...]) -> FinishReason:
        """Where a finish reason is decided.

        A blocked answer is blocked whatever the model said (D35); a refusal is one whether the model stopped
        or was cut (D42); an answer of calls is one also when the server calls it ``stop`` (D45).
        """
        finish = self.finish
        if finish == "tool_calls" and not calls:
            raise Fault(ProtocolError, "the finish reason tool_calls without tool calls")
        if self.refused or self._blocked or finish == "content_filter":
            if calls and self.refused:
                raise Fault(ProtocolError, "both tool calls and a refusal in one answer")  # D42
            if calls:
                raise Fault(ProtocolError, "tool calls in an answer that the content filter blocked")  # D35
            return CONTENT_FILTER if self._blocked or finish == "content_filter" else REFUSAL
        if finish == "length":
            return LENGTH
        return TOOL_CALLS if calls else STOP

    def _timing(self, first: float) -> Timing:
        return Timing(round((first - self._started) * 1000), round((self._last - self._started) * 1000))


def _usage(told: WireUsage) -> Usage:
    output, prompt = told.completion_tokens_details, told.prompt_tokens_details
    return Usage(
        told.prompt_tokens,
        told.completion_tokens,
        told.total_tokens,
        None if output is None else output.reasoning_tokens,
        None if prompt is None else prompt.cached_tokens,
    )
