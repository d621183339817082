from __future__ import annotations

import shutil
import subprocess

import pytest

from reldep import report
from report.conftest import HOSTILE, KINDS
from report.parsed import Document


@pytest.mark.parametrize("kind", KINDS)
def test_notebooks_and_tables_to_paste_have_the_rows_and_headings(answers, kind):
    result, parts = answers[kind], answers[kind].describe()
    document = Document(result._repr_html_())
    assert document.unclosed == []
    assert result.sentence() in document.text
    assert len(document.all("tr")) == 1 + len(parts.table)
    latex = report.latex_table(parts)
    headings = [column.heading for column in parts.table.columns]
    assert latex.splitlines()[3].removesuffix(r" \\").split(" & ") == headings
    assert len(latex.splitlines()) == 7 + len(parts.table)
    assert "e-" not in "".join(latex.splitlines()[5:-2]).replace("e-value", "")


def test_everything_from_the_data_is_escaped(hostile):
    fragment = hostile._repr_html_()
    assert "<script" not in fragment
    assert f"Caution: caution about {HOSTILE}" in Document(fragment).text
    row = report.latex_table(hostile.describe()).splitlines()[5]
    assert r"\textless{}script\textgreater{}" in row
    assert r"\& " '"\\$y\\$"' in row


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_accepts_every_table(answers, hostile, tmp_path):
    tables = [report.latex_table(result.describe()) for result in (*answers.values(), hostile)]
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}"
    whole = "\n\n".join([head, r"\begin{document}", *tables, r"\end{document}"])
    (tmp_path / "tables.tex").write_text(whole, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
