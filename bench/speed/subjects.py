"""What is measured: the subjects, and the parts each of them takes."""

from __future__ import annotations

from dataclasses import dataclass

from bench.peers.libraries import LIBRARIES, Library

CLIENTS = {**LIBRARIES, "svir-backends": Library("svir", "", LIBRARIES["svir"].build, "[aiohttp,httpx2]")}
"""The environments: those of the comparison of behaviour, and svir with all of its backends."""

IN_SEQUENCE = ("small", "long", "paced")
TOGETHER = ("many", "thousand")
SENDING = ("image", "text")
PARTS = (*IN_SEQUENCE, *TOGETHER, *SENDING)


@dataclass(frozen=True)
class Subject:
    """A library used in one way: a row of the tables.

    Attributes:
        library: Its name in ``CLIENTS``.
        client: The file in ``clients/``, without its ending.
        face: What in that file makes its calls.
        sends: Whether it also sends files.
    """

    library: str
    client: str
    face: str
    sends: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """What it is measured at."""
        together = () if self.face == "blocking" else TOGETHER
        return (*IN_SEQUENCE, *together, *(SENDING if self.sends else ()))


SUBJECTS = {
    "floor": Subject("svir", "of_floor", "blocking"),
    "svir": Subject("svir", "of_svir", "blocking", sends=True),
    "openai": Subject("openai", "of_openai", "blocking", sends=True),
    "httpx2": Subject("httpx2", "of_httpx2", "blocking", sends=True),
    "lm15": Subject("lm15", "of_lm15", "blocking", sends=True),
    "litellm": Subject("litellm", "of_litellm", "blocking", sends=True),
    "floor, async": Subject("svir", "of_floor", "concurrent"),
    "svir, async": Subject("svir", "of_svir", "concurrent"),
    "svir[aiohttp]": Subject("svir-backends", "of_svir", "aiohttp"),
    "svir[httpx2]": Subject("svir-backends", "of_svir", "httpx2"),
    "openai, async": Subject("openai", "of_openai", "concurrent"),
    "httpx2, async": Subject("httpx2", "of_httpx2", "concurrent"),
    "litellm, async": Subject("litellm", "of_litellm", "concurrent"),
    "pydantic-ai, async": Subject("pydantic-ai", "of_pydantic_ai", "concurrent", sends=True),
}
