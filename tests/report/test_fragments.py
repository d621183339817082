from __future__ import annotations

import shutil
import subprocess

import pytest

import reldep
from reldep import report
from reldep.report.markup import Markup, element, escaped, joined
from report.conftest import HOSTILE, KINDS
from report.parsed import Document


@pytest.mark.parametrize("kind", KINDS)
def test_notebook_shows_the_sentence_and_the_table(answers, kind):
    result = answers[kind]
    document = Document(result._repr_html_())
    assert document.unclosed == []
    assert result.sentence() in document.text
    assert len(document.all("tr")) == 1 + len(result.describe().table)


def test_notebook_shows_cautions_as_text(hostile):
    fragment = hostile._repr_html_()
    assert "<script" not in fragment
    assert f"Caution: caution about {HOSTILE}" in Document(fragment).text


def test_latex_table_has_the_rows_of_the_result(comparison):
    lines = report.latex_table(comparison.describe()).splitlines()
    assert lines[1] == r"\begin{tabular}{lrrrrrrr}"
    assert lines[3].startswith(
        r"relation & CKA & as a correlation & standard error & from & to & t & p-value"
    )
    assert lines[5].startswith(r"location \textasciitilde{} genes & $0.")
    assert len(lines) == 10


def test_latex_specials_are_escaped(hostile):
    row = report.latex_table(hostile.describe()).splitlines()[5]
    assert r"\textless{}script\textgreater{}" in row
    assert r"\& " '"\\$y\\$"' in row


def test_latex_sets_small_numbers_as_powers(answers):
    pvalue = report.latex_table(answers["dependence"].describe()).splitlines()[5].split("&")[-1]
    assert r"\cdot 10^{-" in pvalue
    assert "e-" not in pvalue


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_accepts_every_table(answers, hostile, tmp_path):
    tables = [report.latex_table(result.describe()) for result in (*answers.values(), hostile)]
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}"
    whole = "\n\n".join([head, r"\begin{document}", *tables, r"\end{document}"])
    (tmp_path / "tables.tex").write_text(whole, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_markup_is_escaped_once():
    inner = element("b", "1 < 2")
    assert element("p", inner, " & ") == "<p><b>1 &lt; 2</b> &amp; </p>"
    assert escaped(inner) is inner
    assert joined("<", Markup("<br>")) == "&lt;<br>"


def test_attributes_are_escaped_and_may_be_left_out():
    assert element("img", alt='a "b"', class_=None) == '<img alt="a &quot;b&quot;">'


def test_a_chi_square_statistic_is_called_so(answers):
    result = answers["dependence"]
    written = (
        report.latex_table(result.describe()),
        report.markdown_table(result.describe()),
        result._repr_html_(),
        result.to_html(),
    )
    for document in written:
        assert "chi-square" in document
    header = report.latex_table(result.describe()).splitlines()[3].removesuffix(r" \\").split(" & ")
    assert "z" not in header


def test_markdown_has_the_sentence_the_rows_and_the_cautions(hostile):
    lines = report.markdown_table(hostile.describe()).splitlines()
    assert lines[2].startswith("| relation | CKA | as a correlation | standard error |")
    assert lines[3].startswith("| --- | ---: |")
    assert lines[4].count(" | ") == 7
    assert r"\<script\>" in lines[0]
    assert lines[-1].startswith("**Caution:** caution about")


def test_markdown_cells_cannot_be_broken_by_names(variables):
    names = ["a|b", "new\nline", "*c*"]
    lines = report.markdown_table(reldep.compare(*variables, names=names).describe()).splitlines()
    assert lines[4].startswith(r"| a\|b \~ new line | ")
    assert r"\*c\*" in lines[5]
