"""What the conformance runner asks of svir: ``--adapter tests.support.conformance_adapter:adapter``."""

from __future__ import annotations

from tests.support.conformance_decoder import DecoderPart


class SyncAdapter(DecoderPart):
    """The sync face."""


class AsyncAdapter(DecoderPart):
    """The async face."""


adapter_sync = SyncAdapter()
adapter_async = AsyncAdapter()
adapter = adapter_sync
