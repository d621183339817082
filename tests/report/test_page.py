"""The report as a document: its parts, its pictures, its safety, and tables to paste."""

from __future__ import annotations

import base64
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import reldep
from reldep import report
from report.conftest import HOSTILE, KINDS
from report.parsed import Document


@pytest.fixture(scope="module")
def documents(pages):
    return {kind: Document(page) for kind, page in pages.items()}


def pictures(document):
    """The SVG pictures of a page, parsed."""
    prefix = "data:image/svg+xml;base64,"
    sources = [image["src"] for image in document.all("img")]
    assert all(source.startswith(prefix) for source in sources)
    decoded = [base64.b64decode(source.removeprefix(prefix)) for source in sources]
    return [ElementTree.fromstring(svg) for svg in decoded]  # noqa: S314


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_well_formed_answers_first_and_loads_nothing(answers, documents, kind):
    result, document = answers[kind], documents[kind]
    places = [
        document.text.index(words, 1)
        for words in (result.describe().question, result.sentence(0.05), "Picture")
    ]
    assert places == sorted(places)
    assert document.unclosed == []
    assert document.all("html") == [{"lang": "en"}]
    assert len(document.all("h1")) == 1
    assert all(image["alt"] for image in document.all("img"))
    assert all(cell.get("scope") in {"row", "col"} for cell in document.all("th"))
    assert len(document.all("caption")) == len(document.all("table"))
    names = [a["id"] for _, a in document.elements if "id" in a]
    assert len(names) == len(set(names))
    assert [a["aria-labelledby"] for a in document.all("section")] == names
    tags = {tag for tag, _ in document.elements}
    assert not tags & {"script", "link", "iframe", "object", "embed", "base", "form"}
    for tag, attributes in document.elements:
        assert not any(name.startswith("on") for name in attributes)
        outside = [v for v in attributes.values() if v and v.startswith(("http:", "https:", "//"))]
        assert not outside or tag == "a"


def test_sections_follow_the_reader(pages, documents):
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", pages["comparison"]) == [
        *("Cautions", "Picture", "Table", "Does the answer depend on the bandwidth?", "Planning"),
        *("Most influential observations", "How it was computed", "References"),
    ]
    assert len(pictures(documents["ranking"])) == 3


def test_everything_from_the_data_stays_text(pages, documents):
    html, document = pages["hostile"], documents["hostile"]
    assert "<script" not in html
    assert not {"script", "b"} & {tag for tag, _ in document.elements}
    assert document.text.count(HOSTILE) > 8
    assert f"caution about {HOSTILE}" in document.text
    assert "\x00" not in html
    assert "second\N{REPLACEMENT CHARACTER}" in document.text


def test_names_on_pictures_are_text_too(documents):
    written = []
    for picture in pictures(documents["hostile"]):
        assert not [node for node in picture.iter() if node.tag.endswith("script")]
        assert not [name for node in picture.iter() for name in node.attrib if name[:2] == "on"]
        written += [node.text for node in picture.iter() if node.text]
    assert any(text.startswith("first <scr") for text in written)


def test_page_is_small_and_the_same_every_time_also_in_a_file(pages, answers, tmp_path):
    assert max(map(len, pages.values())) < 200_000
    assert answers["dependence"].to_html(tmp_path / "report.html") is None
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == pages["dependence"]
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_file_of_somebody_else_is_kept_unless_asked(answers, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="was not made by reldep"):
        answers["dependence"].to_html(path)
    assert path.read_text() == "mine"
    answers["dependence"].to_html(path, overwrite=True)
    answers["dependence"].to_html(path)  # ours by now


def test_names_with_half_a_character_can_be_written(variables, tmp_path):
    reldep.compare(*variables, names=["a\ud800", "b", "c"]).to_html(tmp_path / "a.html")
    assert "a?" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_nothing_is_computed_twice_for_one_report(comparison):
    called = []

    def note(frame, event, _):
        if event == "call":
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        comparison.to_html()
    finally:
        sys.setprofile(None)
    counts = [called.count(name) for name in ("describe", "comparison", "intervals")]
    # All dependences have their intervals at once.
    assert counts == [1, 1, 1]


def test_many_targets_and_many_rows_still_give_a_small_file():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 3100))
    html = reldep.compare(x, x + noise, x + 2 * noise, kernel="linear").to_html()
    assert len(html) < 500_000
    x = rng.normal(size=60)
    targets = {f"target {i}": x * (1 + i % 7) + rng.normal(size=60) for i in range(60)}
    html = reldep.rank(x, targets, n_simulations=400).to_html()
    assert len(html) < 500_000
    assert "The first 40 of 61 variables." in html


# What a reader finds in a report, by its kind; after "-" what is not there.
TEXTS = {
    "hostile": [
        *("Few units: caution about", "What it means: Few rows, clusters or events: p-values and"),
    ],
    "comparison": [
        *("None: no check found a problem.", "The 5 observations with the largest influence"),
        *("estimate withoutp-value without", "Laplace(bandwidth=", "dense", "jackknife"),
        *(platform.python_version(), np.__version__, "Random seed0 (the default)", "Song"),
        "reldep.compare(source, first, second, names=['location', 'genes', 'copies'])",
        *("Bounliphone", "-Mogstad"),
    ],
    "ranking": ["Bounliphone", "Kornblith", "Mogstad", "-Most influential observations"],
    "dependence": ["Bounliphone", "Rizzo", "-Mogstad"],
}


@pytest.mark.parametrize("kind", TEXTS)
def test_cautions_influence_computation_and_references_are_in_the_report(documents, kind):
    for expected in TEXTS[kind]:
        is_absent = expected.startswith("-")
        assert (expected.removeprefix("-") in documents[kind].text) != is_absent, expected


def test_no_call_is_no_line_and_rows_left_out_are_counted(comparison):
    provenance = replace(comparison.provenance, call="", n_dropped=3)
    text = Document(replace(comparison, provenance=provenance).to_html()).text
    assert "To repeat it" not in text
    assert "90 (3 incomplete left out)" in text
    assert "3 incomplete rows were left out." in text


def test_level_of_the_answer_is_the_readers(comparison):
    assert "99% interval" in Document(comparison.to_html(alpha=0.01)).text


INKS = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
DARK = {
    **dict.fromkeys(INKS, "white"),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "black"),
    "axes.grid": True,
    "font.size": 30,
    "svg.fonttype": "path",
}


def test_pictures_are_black_on_white_whatever_the_readers_settings(answers, monkeypatch):
    with mpl.rc_context(DARK):
        before = dict(mpl.rcParams)
        monkeypatch.setattr(mpl.RcParams, "__setitem__", pytest.fail)
        html = answers["split"].to_html()
        monkeypatch.undo()
        assert dict(mpl.rcParams) == before
    plain, dark = (pictures(Document(page)) for page in (answers["split"].to_html(), html))
    for one, other in zip(plain, dark, strict=True):
        # The number of ticks may differ, nothing else.
        for kind in ("text", "path"):
            assert set(styles(one, kind)) == set(styles(other, kind))


def styles(picture, kind):
    return [node.get("style") for node in picture.iter() if node.tag.endswith(f"}}{kind}")]


def test_reports_drawn_in_threads_are_the_same(answers, pages):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(answers["dependence"].to_html) for _ in range(6)]
        assert {job.result() for job in jobs} == {pages["dependence"]}


def test_sections_head_their_first_column_by_its_own_name(variables):
    data = dict(zip("xyz", variables, strict=True)) | {"statistic": [f"p{i}" for i in range(90)]}
    html = reldep.compare("x", "y", "z", data=reldep.read(data, id="statistic")).to_html()
    assert '<th scope="col">statistic</th><th scope="col" class="number">influence</th>' in html


def test_names_in_other_scripts_raise_no_font_warning(variables):
    html = reldep.compare(*variables, names=["位置", "遺伝子", "コピー数"]).to_html()
    written = [node.text for node in pictures(Document(html))[0].iter() if node.text]
    assert "CKA(位置, 遺伝子)" in written


COLOURS = re.compile(r"--(\w[\w-]*): (#[0-9a-f]{3,6})")


def contrast(one, other):
    """The contrast of two colours, as the Web's rules define it."""
    linear = [
        [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        for colour in (one, other)
    ]
    light, dark = sorted(np.array(linear) @ [0.2126, 0.7152, 0.0722], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_its_background(pages, scheme):
    colours = dict(COLOURS.findall(pages["comparison"].split(":root")[scheme + 1]))
    for ink in ("ink", "quiet", "accent"):
        for ground in ("page", "card"):
            assert contrast(colours[ink], colours[ground]) >= 4.5
    for ink in ("ink", "caution"):
        assert contrast(colours[ink], colours["caution-page"]) >= 4.5


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
