"""A page as a browser would have it: its elements and its text, and whether it is well-formed."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import strategies as st

from svir.cli.probe._report import Report, Row, Speed, Verdict

VOID = {"meta", "input", "rect", "line", "path"}

ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "div", "p"),
    *("h1", "h2", "h3", "dl", "dt", "dd", "ul", "li", "details", "summary", "figure", "figcaption", "time"),
    *("span", "b", "code", "pre", "label", "input", "svg", "rect", "line", "path", "text"),
}
"""Every element that a page may have. None of them loads, runs or leads anywhere."""

ATTRIBUTES = {
    *(
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "aria-hidden",
        "aria-label",
        "role",
        "type",
    ),
    *(
        "datetime",
        "viewbox",
        "preserveaspectratio",
        "overflow",
        "width",
        "height",
        "x",
        "x1",
        "x2",
        "y",
        "y1",
    ),
    *("y2", "dx", "dy", "d"),
}
"""Every attribute that a page may have: none holds a link, a style or a script."""


class Page(HTMLParser):
    """A page, read.

    Attributes:
        elements: The names of the elements, in order, each with its attributes.
        texts: The text outside the style, of each element that has any.
        style: The text of the style.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = page
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.style = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def handle_decl(self, decl: str) -> None:
        assert decl == "doctype html"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def inert(source: str) -> Page:
    """The page, which was found to be well-formed, and to run, load, leave and hide nothing."""
    page = Page(source)
    for name, attributes in page.elements:
        assert name in ELEMENTS
        assert attributes.keys() <= ATTRIBUTES
    assert all(c.isprintable() or c in "\n\t" for c in source)
    assert "url(" not in page.style
    assert "@import" not in page.style
    source.encode()  # no lone surrogate is left
    return page


numbers = st.floats() | st.floats(0, 100)
words = st.text(max_size=8) | st.text("<>&\"'/!-= \0\x1b\u202e\ud800\nab", max_size=8)
rows = st.builds(
    Row,
    id=words,
    question=words,
    verdict=st.sampled_from(Verdict),
    finding=words,
    sent=words,
    shown=words,
    strict=words,
    lenient=words,
    options=st.lists(words, max_size=2).map(tuple),
    advice=words,
)
speeds = st.builds(
    Speed,
    first_token=st.none() | numbers,
    tokens_per_second=st.none() | numbers,
    arrivals=st.lists(numbers, max_size=6).map(tuple),
)
reports = st.builds(
    Report,
    svir=words,
    url=words,
    model=words,
    server=words,
    started=words | st.datetimes().map(str),
    seconds=numbers,
    requests=st.integers(),
    rows=st.lists(rows, max_size=2).map(tuple),
    speed=speeds,
    call=words,
)
