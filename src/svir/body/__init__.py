"""The body of a request: JSON whose exact length is known before its first byte is read."""

from __future__ import annotations

from svir.body._body import Body
from svir.body._content import BLOCK_BYTES
from svir.body._segments import Segment, escaped_len, image_segment, text_segment

__all__ = ["BLOCK_BYTES", "Body", "Segment", "escaped_len", "image_segment", "text_segment"]
