"""The reference: which page has which names. What stands there comes from the docstrings.

``PAGES`` is all there is to decide. A test compares it with the tables of public names, so that none can be
missing; what is in ``svir`` itself is documented under that name, and nowhere else.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, get_origin

import docstrings
from sphinx.ext.napoleon import GoogleDocstring

import svir

__all__ = ["PAGES", "Page", "alias", "names", "write"]


class Page(NamedTuple):
    """One page of the reference.

    Attributes:
        file: Its file's name, without an ending.
        title: Its title.
        about: What is said before the names, in reStructuredText.
        package: The package the names are in.
        sections: Headings, and the names below each.
    """

    file: str
    title: str
    about: str
    package: str
    sections: dict[str, str]


PAGES = (
    Page(
        "client",
        "Client",
        "The guide is :doc:`/client`. Whatever fails is a ``svir.Error``.",
        "svir",
        {
            "Clients": "Client AsyncClient",
            "Streams": "Stream AsyncStream RawStream AsyncRawStream",
            "Many at once": "Completions AsyncCompletions",
            "Strictness and limits": "Mode Think Limits",
            "Compatibility": "Compatibility Learned",
            "Own layers": "Next AsyncNext",
        },
    ),
    Page(
        "requests",
        "Requests",
        "Frozen values that say what to ask. :doc:`/client` shows them at work.",
        "svir",
        {
            "A request": "Request Effort ResponseFormat Schema",
            "Messages": "Message Role user assistant Part Turn Text",
            "Attachments": "Image TextFile Detail Source PathSource BytesSource UrlSource",
            "Tools offered": "Tool ToolChoice Offers",
            "Storing": "to_dict from_dict",
        },
    ),
    Page(
        "answers",
        "Answers",
        "What a server said. Events are for display; what counts is the ``Completion``.",
        "svir",
        {
            "A whole answer": "Completion FinishReason Usage Timing",
            "Parts of an answer": "Reasoning ReasoningSource ToolCall ToolResult",
            "Events of a stream": "Event TextDelta ReasoningDelta ToolCallDelta Completed",
            "Models": "ModelInfo",
        },
    ),
    Page(
        "errors",
        "Errors",
        "What each kind means, and what to do about it, is in :doc:`/errors`.",
        "svir",
        {
            "The base": "Error ErrorKind Partial Place",
            "Kinds": (
                "TransportError RequestTimeoutError RateLimitError TruncatedStreamError AuthenticationError "
                "ContextOverflowError ContentFilterError ProtocolError ServerError UnsupportedError "
                "ResponseLimitError AttachmentError ConfigError AnswerError"
            ),
        },
    ),
    Page(
        "tools",
        "Tools",
        "The guide is :doc:`/tools`.",
        "svir",
        {"Functions": "Tools Injected", "Tool sets of one's own": "Toolbox AsyncToolbox"},
    ),
    Page(
        "layers",
        "svir.layers",
        "The guides are :doc:`/layers` and :doc:`/tracing`.",
        "svir.layers",
        {"Acting": "Retry RetryDetails Timeout Fallback", "Telling": "Trace OpenTelemetry"},
    ),
    Page(
        "testing",
        "svir.testing",
        "The guide is :doc:`/testing`, which has the pytest fixture ``svir_server``, too.",
        "svir.testing",
        {
            "Scripted": "MockServer ScriptedBackend AsyncScriptedBackend Reply Received",
            "Recorded": "Cassette AsyncCassette",
        },
    ),
    Page(
        "chat",
        "svir.openai.chat",
        "The codec of Chat Completions alone: no I/O happens here.",
        "svir.openai.chat",
        {"Encoding and decoding": "Encoder Decoder API"},
    ),
    Page(
        "body",
        "svir.body",
        "A request's body: JSON of exactly known length, with attachments that are read while it is sent.",
        "svir.body",
        {"Bodies": "Body escaped_len", "Segments": "Segment image_segment text_segment BLOCK_BYTES"},
    ),
    Page(
        "http",
        "svir.http",
        "All that svir asks of HTTP, for a backend of one's own, and the backends that come with it.",
        "svir.http",
        {
            "Built in": "Http11Backend AsyncHttp11Backend",
            "Over other libraries": "AiohttpBackend Httpx2Backend AsyncHttpx2Backend",
            "The seam": "Backend AsyncBackend HttpResponse AsyncHttpResponse HttpRequest Origin Abort",
            "Values": "Headers Secret",
        },
    ),
    Page(
        "exchange",
        "svir.exchange",
        "One call as steps. A layer that is to work under both faces is written with these "
        "(:doc:`/architecture`); other programs do not need them.",
        "svir.exchange",
        {
            "Layers as steps": "StepsLayer Open Server Steps Reply RawReply Ending Deadlines Deadline Tries",
            "The exchange": "Exchange Options Settings settings_from check_seconds stack",
            "Names of variables": "is_variable unset_variable",
        },
    ),
)


def names() -> list[str]:
    """Every name of the reference, with its package, in order."""
    return [
        f"{page.package}.{name}"
        for page in PAGES
        for section in page.sections.values()
        for name in section.split()
    ]


def write(folder: Path) -> None:
    """Writes the pages, in reStructuredText."""
    folder.mkdir()
    for page in PAGES:
        (folder / f"{page.file}.rst").write_text("\n".join(_page(page)), "ascii")


def _page(page: Page) -> list[str]:
    lines = [page.title, "=" * len(page.title), "", page.about, ""]
    for heading, section in page.sections.items():
        lines += [heading, "-" * len(heading), ""]
        for name in section.split():
            lines += _entry(page.package, name)
    return lines


def _entry(package: str, name: str) -> list[str]:
    value = getattr(importlib.import_module(package), name)
    if inspect.isfunction(value):
        return [f".. autofunction:: {package}.{name}", ""]
    if not inspect.isclass(value) or get_origin(value):
        what, doc = alias(name)
        kind, says = ("type", "canonical") if not isinstance(value, int) else ("data", "value")
        if name == "API":
            kind, says, what = "data", "type", "WireApi"
        return [
            *(f".. py:{kind}:: {package}.{name}", f"   :{says}: {what}", ""),
            *(f"   {line}" for line in GoogleDocstring(doc).lines()),
            "",
        ]
    full = f"{package}.{name}"
    lines = [f".. autoclass:: {full}{docstrings.arguments(full, value) or '()'}", "   :members:"]
    if issubclass(value, svir.Error) and value is not svir.Error:
        lines.append(
            "   :exclude-members: kind, phrase, transient"
        )  # described at the base, and told in a word
    if issubclass(value, str) or hasattr(value, "__required_keys__"):
        lines.append("   :undoc-members:")
    return [*lines, ""]


def alias(name: str) -> tuple[str, str]:
    """What an alias or a constant stands for, and the string below it, from its source.

    Raises:
        LookupError: It has no docstring.
    """
    for module in pkgutil.walk_packages(svir.__path__, "svir."):
        spec = module.module_finder.find_spec(module.name, None)
        source = Path(spec.origin).read_text("ascii")
        if f'"{name}"' not in source or "\n" + name not in source:
            continue
        body = ast.parse(source).body
        for statement, following in pairwise(body):
            target = getattr(statement, "target", None) or getattr(statement, "targets", [None])[0]
            if isinstance(target, ast.Name) and target.id == name and isinstance(following, ast.Expr):
                return ast.unparse(statement.value), inspect.cleandoc(ast.literal_eval(following.value))
    raise LookupError(name)
