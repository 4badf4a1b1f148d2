"""What the conformance runner asks of svir: ``--adapter tests.support.conformance_adapter:adapter_sync``."""

from __future__ import annotations

from tests.support.conformance_decoder import DecoderPart
from tests.support.conformance_encoder import EncoderPart
from tests.support.conformance_transport import AsyncTransportPart, SyncTransportPart, TrioTransportPart


class SyncAdapter(DecoderPart, EncoderPart, SyncTransportPart):
    """The blocking face."""


class AsyncAdapter(DecoderPart, EncoderPart, AsyncTransportPart):
    """The asynchronous face, under asyncio."""


class TrioAdapter(DecoderPart, EncoderPart, TrioTransportPart):
    """The asynchronous face, under trio."""


adapter_sync = SyncAdapter()
adapter_async = AsyncAdapter()
adapter_trio = TrioAdapter()
adapter = adapter_sync
