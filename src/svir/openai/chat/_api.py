"""The wire API as the rest of svir sees it: see ``svir.codec._api.WireApi``.

What does the work is imported when it is first used, so that building a client stays cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from svir.codec._api import AnyDecoder, AnyEncoder, Failure, WireApi
    from svir.codec._options import Limits, Mode, Think
    from svir.types import ModelInfo, Request

__all__ = ["API"]


class _ChatCompletions:
    """OpenAI-compatible Chat Completions, streamed."""

    name = "openai.chat"
    answer_path = "/v1/chat/completions"
    models_path = "/v1/models"

    def encoder(
        self,
        *,
        include_usage: bool,
        omit: Collection[str],
        context_tokens: int | None,
        max_tokens_field: str,
    ) -> AnyEncoder:
        from svir.openai.chat._encoder import Encoder

        return Encoder(
            include_usage=include_usage,
            omit=omit,
            context_tokens=context_tokens,
            max_tokens_field=max_tokens_field,
        )

    def optional_fields(self, request: Request, *, include_usage: bool) -> tuple[str, ...]:
        from svir.openai.chat._encoder import optional_fields

        return optional_fields(request, include_usage=include_usage)

    def decoder(
        self,
        *,
        mode: Mode,
        limits: Limits,
        think: Think,
        clock: Callable[[], float],
        request_id: str | None,
        dropped: tuple[str, ...],
    ) -> AnyDecoder:
        from svir.openai.chat._decoder import Decoder

        return Decoder(mode, limits=limits, think=think, clock=clock, request_id=request_id, dropped=dropped)

    def read_failure(self, status: int, body: bytes) -> Failure:
        from svir.openai.chat._failures import read_failure

        return read_failure(status, body)

    def read_models(self, body: bytes) -> tuple[ModelInfo, ...]:
        from svir.openai.chat._models import read_models

        return read_models(body)


API: WireApi = _ChatCompletions()
"""Chat Completions: what ``Client.openai`` speaks."""
