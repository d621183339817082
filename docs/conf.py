"""Configuration of the documentation; built by ``make docs`` with warnings as errors."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import TYPE_CHECKING

import reldep

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "reldep"
author = "The reldep developers"
copyright = "2026, The reldep developers"
version = release = reldep.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "**/README.md"]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"
autosummary_generate = True
# Formulas are set by a copy of MathJax in the pages, so that they can be read offline: one file of
# 2 MB that contains its fonts (MathJax 3.2.2, Apache-2.0, as published).
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}  # whose entries would load further files
numpydoc_show_class_members = False
autodoc_typehints = "none"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # a page that loads its table from elsewhere
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "reldep"
html_static_path = ["_static"]
html_css_files = ["front.css"]
html_theme_options = {
    "navigation_with_keys": True,
    "header_links_before_dropdown": 3,
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False


def copy_mathjax(app: Sphinx) -> None:
    """Copy the one file of MathJax that the pages load next to them."""
    if app.builder.format != "html":
        return
    shipped = importlib.metadata.distribution("sphinx-mathjax-offline")
    script = Path(str(shipped.locate_file(f"sphinx-mathjax-offline/static/{mathjax_path}")))
    copy = Path(app.outdir) / "_static" / mathjax_path
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(script.read_bytes())


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", copy_mathjax)
