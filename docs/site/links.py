"""A Sphinx extension: names in backticks are links, wherever they stand, and types in signatures too.

1. A page writes `svir.Client`, `Retry.connect(3)` or `client.complete()` in plain backticks, which also read
   well elsewhere. Here each that names something of the reference leads there.
2. A type in a signature is written as its module imports it. What it means is told by its last part alone:
   public names are told apart by that. Python's own lead to its documentation.
3. Any other name that leads nowhere is a warning, and so an error.
"""

from __future__ import annotations

import builtins
import importlib.util
import re
import sys
from typing import TYPE_CHECKING

import reference
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

INSTANCES = {
    "answer": "svir.Completion",
    "client": "svir.Client",
    "completion": "svir.Completion",
    "error": "svir.Error",
    "request": "svir.Request",
    "server": "svir.testing.MockServer",
    "stream": "svir.Stream",
    "tools": "svir.Tools",
}
"""What pages call a value of a class."""

STANDARD = {
    **dict.fromkeys(["Awaitable", "Callable", "Collection", "Generator", "Iterable"], "collections.abc"),
    **dict.fromkeys(["Iterator", "Mapping", "Sequence"], "collections.abc"),
    **dict.fromkeys(["Any", "Literal", "NamedTuple", "Protocol", "Self", "TypedDict", "Unpack"], "typing"),
    "Path": "pathlib",
    "PathLike": "os",
    "SSLContext": "ssl",
    "Logger": "logging",
    "TracebackType": "types",
}
"""Names of the standard library that annotations use, and their modules."""

PRIVATE = {
    *("Act", "AnyClient", "AnyDecoder", "AsyncLayer", "Base", "INJECTED", "Key", "Layer", "Step"),
    *("AsyncTexts", "ReplyFields", "Texts", "ToolChoiceWord", "TypeForm", "Value", "WireApi"),
    *("AsyncHttp11Response", "AsyncScriptedResponse", "Http11Response", "ScriptedResponse"),
    *("AiohttpResponse", "AsyncHttpx2Response", "Httpx2Response", "httpx2.AsyncClient", "httpx2.Client"),
    *("AttributeValue", "Capture", "MeterProvider", "TracerProvider", "Vintage"),
    *("F", "P", "R", "T"),
}
"""What stands in a signature and has no entry: private classes, another library's, and type variables."""

ALSO = {"RequestFields": "svir.Request"}
"""What is described elsewhere."""

NAMES = [name.rpartition(".") for name in reference.names()]
BY_NAME = {last: f"{package}.{last}" for package, _, last in reversed(NAMES)}
LOGGER = logging.getLogger(__name__)
PYTHON = "https://docs.python.org/3/library"


def link_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Turns names in backticks into links."""
    objects = app.env.domaindata["py"]["objects"]
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, (nodes.reference, nodes.title)) or literal.get("classes"):
            continue
        name = meant(literal.astext())
        if name in objects:
            found = objects[name]
            link = make_refnode(app.builder, page, found.docname, found.node_id, literal.deepcopy(), name)
            literal.replace_self(link)
        elif literal.astext().startswith("svir.") and not (name and is_module(name)):
            LOGGER.warning("there is no %s", literal.astext(), location=literal, type="svir")


def is_module(name: str) -> bool:
    """Whether a name is that of a module or package."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def meant(text: str) -> str | None:
    """The full name of what a text in backticks names, if it may be one."""
    match = re.fullmatch(r"(?:await )?([A-Za-z_][\w.]*)(\(.*\))?", text)
    if match is None:
        return None
    head, dot, rest = match[1].partition(".")
    if head == "svir":
        return match[1]
    head = INSTANCES.get(head, "") if dot else BY_NAME.get(head, "") if head[:1].isupper() else ""
    if dot and not head:
        head = BY_NAME.get(match[1].partition(".")[0], "")
    return head + dot + rest if head else None


class Types(SphinxPostTransform):
    """Gives the types of signatures their full names, before Sphinx looks for them."""

    default_priority = 5

    def run(self, **_: object) -> None:
        """Called for each page."""
        for node in self.document.findall(pending_xref):
            if node.get("refdomain") == "py":
                last = node["reftarget"].rpartition(".")[2]
                near = f"{node.get('py:module')}.{last}"
                full = near if tuple(near.rpartition(".")) in NAMES else ALSO.get(last) or BY_NAME.get(last)
                if full and (node["reftarget"].startswith("svir.") or "." not in node["reftarget"]):
                    node["reftarget"], node["refspecific"] = full, False


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.TextElement) -> object:
    """Finds what is not svir's own: the standard library's names, and what is to lead nowhere."""
    target = node["reftarget"]
    module, _, last = target.rpartition(".")
    if node.get("refdomain") != "py":
        return None
    if PRIVATE & {target, last}:
        return text
    if isinstance(getattr(builtins, target, None), type):
        if not issubclass(getattr(builtins, target), BaseException):
            return text
        return outside(f"{PYTHON}/exceptions.html#{target}", text)
    module = module or STANDARD.get(last, "")
    if module in sys.stdlib_module_names | {"collections.abc"}:
        return outside(f"{PYTHON}/{module}.html#{module}.{last}", text)
    return None


def outside(address: str, text: nodes.TextElement) -> nodes.reference:
    """A link to another site."""
    return nodes.reference("", "", text, internal=False, refuri=address)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_post_transform(Types)
    app.connect("doctree-resolved", link_names)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
