"""Sphinx's configuration; `build.py` uses it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import svir

project = "svir"
author = "The svir developers"
project_copyright = f"{author}. MIT or Apache-2.0"
release = version = svir.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "links", "docstrings", "tables"]
nitpicky = True
root_doc = "index"

# The pages are GitHub's kind of Markdown, and nothing more: they are read there, too.
myst_enable_extensions: list[str] = []
myst_heading_anchors = 4

autodoc_default_options = {
    "inherited-members": "BaseException, Generic, Protocol, Struct, dict, object, str",
}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
maximum_signature_line_length = 90

smartquotes_action = "D"  # dashes alone: quotation marks stay as they are typed
html_theme = "furo"
html_title = f"svir {release}"
html_use_index = False  # the search finds more
html_favicon = "static/svir.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": False}
pygments_style = "default"
pygments_dark_style = "github-dark"
