"""Puts the site's pages together in one folder: those of docs/, those of the repository, and the reference.

Pages stay what they are on the repository's own rendering (S114). What differs on the site is done here:
links into the repository lead to pages of the site, and the first page gets its contents.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import reference

__all__ = ["ROOT", "stage"]

ROOT = Path(__file__).resolve().parents[2]
FROM_THE_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reporting.md",
}
"""Pages of the repository, and what they are called on the site."""


def stage(folder: Path) -> None:
    """Writes the folder anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sources: set[str] = set()
    for page in (ROOT / "docs").glob("*.md"):
        (folder / page.name).write_text(_moved(page.read_text("ascii"), "../", sources), "ascii")
    for picture in (ROOT / "docs").glob("*.svg"):
        shutil.copy(picture, folder)
    for page, name in FROM_THE_ROOT.items():
        (folder / name).write_text(_moved((ROOT / page).read_text("ascii"), "", sources), "ascii")
    for source in sources:
        _write_source(folder / f"{source}.md", source)
    index = folder / "index.md"
    index.write_text(_with_trees(index.read_text("ascii")), "ascii")
    reference.write(folder / "reference")


def _moved(text: str, root: str, sources: set[str]) -> str:
    """A page whose links into the repository lead to pages of the site, without its notes.

    Args:
        text: The page.
        root: The way from it to the repository's root.
        sources: Takes the files of the repository that it links to.
    """

    def turned(match: re.Match[str]) -> str:
        path = match[1]
        if path in FROM_THE_ROOT:
            return f"]({FROM_THE_ROOT[path]}"
        if path.startswith("docs/"):
            return f"]({path.removeprefix('docs/')}"
        if not (ROOT / path).is_file() or path.startswith("."):
            return match[0]  # it leads to another page, or elsewhere
        sources.add(path)
        return f"]({path}.md"

    text = re.sub(rf"\]\({re.escape(root)}([\w./-]+)", turned, text)
    return re.sub(r"^<!-- svir.*?-->\n\n?", "", text, flags=re.DOTALL | re.MULTILINE)


def _write_source(page: Path, source: str) -> None:
    """Writes a page that shows a file of the repository."""
    page.parent.mkdir(parents=True, exist_ok=True)
    language = {".py": "python", ".json": "json", ".toml": "toml"}.get(Path(source).suffix, "text")
    code = (ROOT / source).read_text("ascii")
    page.write_text(f"---\norphan: true\n---\n\n# `{source}`\n\n~~~{language}\n{code}~~~\n", "ascii")


def _with_trees(index: str) -> str:
    """The first page with a table of contents for each of its sections: the pages it links to, in order."""
    before, *sections = re.split(r"^(?=## )", index, flags=re.MULTILINE)
    done = [before]
    for section in sections:
        title = section.splitlines()[0].removeprefix("## ")
        pages = [*dict.fromkeys(re.findall(r"\]\(([\w-]+)\.md\)", section))]
        if title == "Reference":
            pages += [f"reference/{page.file}" for page in reference.PAGES]
        tree = "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"])
        done.append(f"{section.rstrip()}\n\n{tree}\n\n")
    return "".join(done)
