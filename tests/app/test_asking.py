"""From a file to an answer to take along, as the page's forms ask for it."""

from __future__ import annotations

import csv
import html
import io
import re
import shlex

import pytest

from spreadsheets import sheets

from .served import Visitor, code, complaints, latest


@pytest.fixture
def asking(visitor, plants):
    visitor.give("plants.csv", plants)
    return visitor


def compared(visitor, *columns):
    """Tick the columns of a comparison, by default the second to the fourth."""
    for slot, column in zip(("source", "first", "second"), columns or (1, 2, 3), strict=True):
        visitor.act("/place", slot=slot, column=column)
    return visitor.settled()


def test_answer_comes_by_itself_once_the_places_are_full_and_can_be_taken_along(asking):
    asking.act("/place", slot="source", column=1)
    assert 'class="answer"' not in asking.do("/place", slot="first", column=2)
    page = asking.do("/place", slot="second", column=3)
    assert "dose is more closely related to growth than to height" in page
    report = latest(asking, page, "report.html")
    assert "dose is more closely related to growth" in report.text
    assert report.headers["content-disposition"].startswith("attachment")
    assert latest(asking, page, "picture.svg").text.startswith("<?xml")
    assert latest(asking, page, "picture.png").status == 200
    assert r"\toprule" in latest(asking, page, "table.tex").text
    rows = list(csv.DictReader(io.StringIO(latest(asking, page, "table.csv").text)))
    assert [row["relation"] for row in rows] == ["dose ~ growth", "dose ~ height", "difference"]


def test_names_like_formulas_are_text_in_the_table_for_spreadsheets(visitor, plants):
    visitor.give("formulas.csv", plants.replace("dose", "=1+1", 1).replace("growth", "@sum", 1))
    table = latest(visitor, compared(visitor), "table.csv").text.splitlines()
    assert [row.partition(",")[0] for row in table[1:]] == [
        "'=1+1 ~ @sum",
        "'=1+1 ~ height",
        "difference",
    ]
    assert float(table[2].split(",")[1]) < 1  # numbers are numbers


def test_answer_has_bandwidths_and_the_most_influential_rows_by_their_ids(asking):
    compared(asking)
    page = asking.do("/options", id="0", alpha="0.05")
    assert "<summary>Does the answer depend on the bandwidth?</summary>" in page
    influential = page.partition("<summary>Most influential observations</summary>")[2]
    assert re.search(r"\bp\d+\b", influential.partition("</details>")[0])
    # The cautions come before the numbers, and these before the picture and the table.
    order = ["</h3>", 'class="answer"', "<dl", "<figure", "<table"]
    article = page.partition("<article")[2]
    places = [article.index(part) for part in order]
    assert places == sorted(places)


def test_several_columns_make_a_block_with_a_name(asking):
    page = asking.act("/place", slot="first", column=[2, 3, 1]).text
    assert "3 columns" in page
    asking.act("/rename", slot="first", position=0, name="my block")
    asking.act("/place", slot="source", column=4)
    page = asking.do("/place", slot="second", column=1)
    assert "colour is more closely related" in page
    assert '"my block"=dose:height' in code(page, "command")


def test_wrong_names_are_said_at_once(asking):
    response = asking.act("/place", slot="source", text="dosis")
    assert response.status == 400
    assert "dose" in re.search(r'role="alert"[^>]*>(.*?)</p>', response.text)[1]


def chosen_by_button(page):
    """The options that a page proposes in buttons."""
    found = re.findall(r'name="name" value="(\w+)"><input[^>]*value="([^"]*)"', page)
    return [(name, html.unescape(value)) for name, value in found]


def test_what_a_message_proposes_is_a_button(visitor, plants):
    """Of an error and of a caution, of reading and of the question; and only until it is chosen."""
    lines = plants.replace("grow", "größ").splitlines()
    for i in (5, 9, 20):
        cells = lines[i].split(",")
        lines[i] = ",".join([*cells[:3], "-99" if i < 20 else "", *cells[4:]])
    page = visitor.give("latin.csv", "\n".join(lines).encode("cp1252"))
    assert chosen_by_button(page) == [("encoding", "cp1252"), ("encoding", "latin1")]
    visitor.do("/choose", name="encoding", value="cp1252")
    page = compared(visitor)
    assert "“Missing: drop”" in complaints(page)[0]
    assert ("missing", "drop") in chosen_by_button(page)
    page = visitor.do("/choose", name="missing", value="drop")
    assert "dose is more closely related" in page
    assert ("na", "-99") in chosen_by_button(page)
    page = visitor.do("/choose", name="na", value="-99")
    assert "3 incomplete rows were left out" in page
    assert chosen_by_button(page) == []
    assert visitor.act("/choose", name="data", value="x").status == 400


def test_every_question_keeps_its_places_and_no_error_of_another(asking):
    compared(asking)
    page = asking.do("/ask", question="dependence")
    assert "dose and growth are related" in page  # what was compared is taken over
    asking.act("/ask", question="contrast")
    assert complaints(asking.act("/place", slot="weights", text="dose").text + asking.settled())
    asking.act("/ask", question="groups")
    assert complaints(asking.settled()) == []
    page = asking.do("/ask", question="compare")
    assert "dose is more closely related to growth than to height" in page


def shown(page, option):
    """The word that the field of an option shows as chosen; None where there is no such field."""
    field = re.search(rf'<select name="{option}".*?</select>', page)
    return field and re.search(r'value="([^"]*)" selected', field[0])[1]


def test_options_show_what_runs_also_for_the_published_test(asking):
    compared(asking)
    page = asking.do("/options", alternative="two-sided", measure="hsic", paper="yes", alpha="0.05")
    assert "by HSIC" in page
    assert "p-value (greater)" in page
    # It has a side and a kernel of its own, and no measure to choose.
    assert (shown(page, "alternative"), shown(page, "measure")) == ("greater", None)
    page = asking.do("/options", alternative="two-sided", paper="yes", alpha="0.05")
    assert "p-value (two-sided)" in page
    assert shown(page, "alternative") == "two-sided"
    assert "alternative='two-sided'" in code(page, "python")
    page = asking.do("/options", alternative="two-sided", alpha="0.05")
    assert (shown(page, "alternative"), shown(page, "method")) == ("two-sided", None)
    assert "by CKA" in page


def faults(page):
    return [html.unescape(text) for text in re.findall(r'class="fault">(.*?)</p>', page)]


def hints(page):
    return " ".join(html.unescape(text) for text in re.findall(r'class="hint">(.*?)</p>', page))


def test_cells_that_do_not_fit_are_shown_with_their_line(visitor, plants):
    lines = plants.splitlines()
    lines[9] = lines[9].replace(lines[9].split(",")[1], "?x?")
    visitor.upload("stray.csv", "\n".join(lines))
    assert faults(visitor.settled()) == [
        "'?x?' in line 10 is not a number. Choose the kind number to make such cells missing, or "
        "category to make all cells labels."
    ]
    assert "contains numbers and words: '?x?' (line 10)" in complaints(compared(visitor))[0]
    page = visitor.do("/kinds", **{"kind-1": "number"})
    assert faults(page) == []
    said = "1 of 60 cells is not a number and was read as missing: '?x?' in line 10."
    assert said in hints(page)
    page = visitor.do("/options", missing="drop", alpha="0.05")
    assert "--numbers" in code(page, "command")
    # The answer says it too, above its numbers.
    assert said.removesuffix(".") in html.unescape(page.partition('class="answer"')[2])


KINDS = "x,marks,day,code,note\n" + "".join(
    f"{i % 7},{'32,1' if i == 7 else f'{i}.5'!r},{'?' if i == 3 else f'2024-01-{i + 1:02d}'},"
    f"{i % 4},word{i}\n"
    for i in range(30)
).replace("'", '"')


def test_each_column_has_its_own_kind(visitor):
    page = visitor.give("kinds.csv", KINDS)
    assert "'32,1' in line 9" in faults(page)[0]
    assert "'?' in line 5 is not a date." in faults(page)[1]

    def found(page):
        """The kinds that the page shows as chosen, column by column."""
        lists = re.findall(r'<select name="kind-\d+".*?</select>', page)
        return [re.search(r'value="([^"]*)" selected', one)[1] for one in lists]

    assert found(page) == ["", "", "", "", ""]
    kinds = ["ignore", "number", "date", "category", "text"]
    page = visitor.do("/kinds", **{f"kind-{i}": kind for i, kind in enumerate(kinds)})
    assert found(page) == kinds
    assert faults(page) == []
    assert "1 of 30 cells is not a number and was read as missing: '32,1' in line 9." in hints(page)
    assert "1 of 30 cells is not a date and was read as missing: '?' in line 5." in hints(page)
    visitor.act("/kinds", **{"kind-3": ""})
    assert found(visitor.settled()) == ["ignore", "number", "date", "", "text"]
    # A kind that a column cannot have is said beside the column, and nothing else is lost.
    visitor.act("/kinds", **{"kind-4": "number"})
    assert "has no numbers: 'word0' in line 2" in faults(visitor.settled())[0]
    assert visitor.act("/kinds", **{"kind-4": "colour"}).status == 400


def test_answers_form_a_list_and_one_report(asking):
    compared(asking)
    asking.act("/ask", question="dependence")
    page = asking.fill(x="dose", y="height")
    assert page.count('action="show"') >= 2
    document = asking.send("GET", "/report.html").text
    assert "dose is more closely related to growth" in document
    assert "script" not in document
    number = re.search(r'name="number" value="(\d+)"', page)[1]
    assert asking.act("/remove", number=number).text.count('action="show"') < page.count(
        'action="show"'
    )


def test_saved_session_can_be_opened_by_another_visitor(server, plants):
    asking = Visitor(server)
    asking.give("plants.csv", plants)
    asking.act("/ask", question="dependence")
    asking.fill(x="dose", y="height")
    asking.act("/ask", question="compare")
    compared(asking)
    saved = asking.send("GET", "/session.json").text
    assert "p17" not in saved  # choices, no data
    other = Visitor(server)
    assert "choose its data again: plants.csv" in other.send("POST", "/session", saved).text
    page = other.give("plants.csv", plants)
    assert "dose is more closely related to growth" in page
    assert "not the files" not in page
    assert page.count('action="show"') == 2  # all answers about this file are back
    third = Visitor(server)
    third.send("POST", "/session", saved)
    page = third.give("plants.csv", plants.replace("p17", "q17"))
    assert "These are not the files of the session" in page


def test_session_of_several_files_waits_for_all_of_them(server, visitor, plants):
    right = plants.replace("dose,growth,height", "a,b,c")
    visitor.give("left.csv", plants)
    visitor.send("POST", "/upload?name=right.csv&add=1", right)
    visitor.settled()
    command = code(visitor.fill(source="dose", first="growth", second="c"), "command")
    other = Visitor(server)
    other.send("POST", "/session", visitor.send("GET", "/session.json").text)
    assert "choose its data again: left.csv" in other.upload("right.csv", right).text
    page = other.give("left.csv", plants)
    assert "not the files" not in page
    assert set(shlex.split(code(page, "command"))) == set(shlex.split(command))


def test_choices_made_while_a_file_is_read_are_asked_afterwards(visitor, plants):
    lines = plants.splitlines()
    lines[9] = lines[9].replace(lines[9].split(",")[1], "?x?")
    visitor.give("stray.csv", "\n".join(lines))
    visitor.act("/kinds", **{"kind-1": "number"})
    visitor.act("/options", missing="drop", alpha="0.05")
    page = compared(visitor)
    assert faults(page) == []
    assert "1 of 60 cells is not a number" in hints(page)
    assert 'class="answer"' in page


def test_file_that_cannot_be_read_as_it_is_can_be_read_otherwise(visitor, plants):
    page = visitor.give("latin.csv", plants.replace("yellow", "grün").encode("latin1"))
    assert "name its encoding" in complaints(page)[0]
    assert re.search(r'id="how-read" open=""', page)
    page = visitor.do("/reading", encoding="latin1", header="yes")
    assert "60 rows, 5 columns" in page
    assert "grün" in page


def test_page_shows_no_other_file_than_the_one_that_was_read(server, plants):
    """A refused upload leaves the file before, and says so; one that was taken replaces it."""
    visitor = Visitor(server)
    visitor.give("plants.csv", plants)
    refused = visitor.upload("plants.docx", "x").text
    assert complaints(refused)[0].endswith("The page still shows plants.csv.")
    assert "60 rows" in refused
    page = visitor.do("/reading", encoding="utf-16", header="yes")
    assert complaints(page)
    assert "60 rows" not in page
    assert "plants.csv could not be read as it is" in page


def test_texts_need_a_place_of_their_own(visitor):
    words = ["root", "leaf", "stem", "bud", "seed"]
    rows = "\n".join(f"{i % 4},{words[i % 5]} {words[i % 3]},{i % 7}" for i in range(40))
    visitor.give("notes.csv", f"x,note,y\n{rows}\n")
    visitor.do("/kinds", **{"kind-1": "text"})
    visitor.act("/ask", question="dependence")
    visitor.act("/place", slot="x", column=0)
    response = visitor.act("/place", slot="y", column=[1, 2])
    assert "note is text, and texts are compared by themselves" in complaints(response.text)[0]
    visitor.act("/kinds", **{"kind-0": "category"})
    assert "note is text" in complaints(visitor.settled())[0]
    visitor.act("/place", slot="y", column=1)
    assert "--kernel note=text" in code(visitor.settled(), "command")


def test_sheets_of_a_workbook_can_be_chosen(visitor):
    pytest.importorskip("fastexcel")
    first = [["a", "b"], *([i, i % 3] for i in range(20))]
    second = [["u", "v"], *([i, i % 5] for i in range(30))]
    assert "20 rows, 2 columns" in visitor.give("book.xlsx", sheets(data=first, two=second))
    assert "30 rows, 2 columns" in visitor.do("/reading", sheet="two", header="yes")


def test_files_can_be_joined(visitor, plants):
    rows = [line.split(",") for line in plants.splitlines()]
    left = "\n".join(",".join(row[:2]) for row in rows)
    right = "\n".join(",".join([row[0], *row[2:]]) for row in rows[:41])
    visitor.give("left.csv", left)
    visitor.send("POST", "/upload?name=right.csv&add=1", right)
    page = visitor.settled()
    assert "40 rows, 5 columns" in page
    page = compared(visitor)
    assert "left.csv right.csv" in code(page, "command")
    assert "--join plant" in code(page, "command")
