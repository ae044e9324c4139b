"""Sphinx: the documentation site. `python build.py docs` builds it.

The source folder is the project's root, so that the links between its pages are the same here and in an editor.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sphinx.application import Sphinx  # noqa: E402
from sphinx.ext.napoleon.docstring import GoogleDocstring  # noqa: E402

import benchguard  # noqa: E402

project = "neutrino-bench"
author = project_copyright = "The neutrino-bench founders"
release = benchguard.__version__

root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "examples/**.md", "sim/*.md", "tests/*/*.md"]
exclude_patterns = [".*", "build", "benchguard", "codegen", "tests/fuzz"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]

myst_heading_anchors = 4
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
toc_object_entries_show_parents = "hide"
add_module_names = False
python_use_unqualified_type_names = True
default_role = "code"  # docstrings write `name`

html_theme = "furo"
html_title = "neutrino-bench"
html_extra_path = ["index.html"]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False


def read_docstring(
    _app: Sphinx, kind: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Turn a docstring of this project into reStructuredText.

    Indented examples would be quotations there. The text of an attribute stays: napoleon takes the words before a
    colon for its type.
    """
    if kind in {"attribute", "data", "property"}:
        return
    for at in range(len(lines) - 1, 1, -1):
        is_example = lines[at].startswith("    ") and not lines[at - 1] and lines[at - 2][:1].strip()
        if is_example:
            lines[at:at] = ["::", ""]
    lines[:] = GoogleDocstring(lines, what=kind, name=name, obj=value, options=options).lines()


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", read_docstring)
