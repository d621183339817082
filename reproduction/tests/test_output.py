"""Tables, pages and figures as files."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from reproduction.output import Output, pvalue


def test_a_table_keeps_ten_digits_and_text_as_it_is(tmp_path):
    output = Output(tmp_path)
    output.table(
        "numbers", [{"name": "a, b", "x": 1 / 3, "n": 7}, {"name": "", "x": 1e-20, "n": 8}]
    )
    text = (tmp_path / "numbers.csv").read_text()
    assert text == 'name,x,n\n"a, b",0.3333333333,7\n,1e-20,8\n'


def test_the_page_comes_first_among_the_paths(tmp_path):
    output = Output(tmp_path)
    output.table("numbers", [{"n": 1}])
    output.page("page", ["# Title", "Text."])
    assert [path.name for path in output.paths] == ["page.md", "numbers.csv"]
    assert output.paths[0].read_text() == "# Title\n\nText.\n"


def test_figures_have_the_same_bytes_every_time(tmp_path):
    contents = []
    for name in ("one", "two"):
        figure = Figure()
        figure.subplots().plot([1, 2], label="a line")
        figure.axes[0].legend()
        Output(tmp_path).figure(name, figure)
        contents.append([(tmp_path / f"{name}.{kind}").read_bytes() for kind in ("png", "svg")])
    assert contents[0] == contents[1]
    assert b">a line<" in contents[0][1]


def test_a_failed_figure_leaves_nothing_behind(tmp_path):
    class Broken:
        def savefig(self, file, **_):
            file.write(b"half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Output(tmp_path).figure("broken", Broken())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "< 1e-300"), (1.23e-7, "1.2e-07"), (0.00123, "0.0012"), (0.5, "0.5"), (1.0, "1")],
)
def test_pvalues_have_two_digits(value, text):
    assert pvalue(value) == text
