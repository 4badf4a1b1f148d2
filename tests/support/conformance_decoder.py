"""The decoder's part of the conformance adapter: plain data in and out."""

from __future__ import annotations

import svir
from svir.openai.chat import Decoder


def completion_data(completion):
    """A completion in the notation of the cases, where calls and cut calls are one list."""
    usage = completion.usage
    return {
        "finish": str(completion.finish),
        "text": completion.text,
        "reasoning": [{"source": part.source, "text": part.text} for part in completion.reasoning],
        "calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in (*completion.calls, *completion.cut_calls)
        ],
        "usage": usage
        and {
            key: value
            for key in ("input", "output", "total", "reasoning")
            if (value := getattr(usage, key)) is not None
        },
    }


class Collected:
    """Joins the events of one stream as a consumer would."""

    def __init__(self):
        self.text = ""
        self.reasoning = ""
        self.completion = None

    def take(self, event):
        """Takes an event; whether it showed text or reasoning."""
        match event:
            case svir.TextDelta(text):
                self.text += text
                return bool(text)
            case svir.ReasoningDelta(_, text):
                self.reasoning += text
                return bool(text)
            case svir.Completed(completion):
                self.completion = completion
        return False


class DecoderPart:
    """``decode`` of the adapter's interface."""

    def decode(self, chunks, mode, options):
        limits = svir.Limits(**options.get("limits", {}))
        decoder = Decoder(mode, limits=limits, think=options.get("think", "split"))
        got, visible = Collected(), []
        try:
            for chunk in chunks:
                shown = [got.take(event) for event in decoder.push(chunk)]
                visible.append(any(shown))
                if got.completion is not None:
                    return {"completion": completion_data(got.completion), "visible": visible}
            for event in decoder.flush():
                got.take(event)
            decoder.finish()
        except svir.Error as error:
            partial = {"text": got.text, "reasoning": got.reasoning}
            return {
                "error": error.kind,
                "message": error.server_message,
                "partial": partial,
                "visible": visible,
            }
        raise AssertionError("the input ended without a completion and without an error")
