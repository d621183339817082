"""What the page shows, its command and its code say the same, also for several people at once."""

from __future__ import annotations

import json
import shlex
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from reldep.cli import main
from reldep.questions import SENTENCES

from .served import Visitor, code, latest, numbers

COMPARED = {"source": "dose", "first": "growth", "second": "height"}
BLOCKS = {"source": "dose", "first": "my block=growth,height", "second": '"the other"=age,code'}


def field(seed=5, n=80):
    """A table with everything that a reader has to be told about."""
    rng = np.random.default_rng(seed)
    dose, age = rng.uniform(0, 10, n), rng.uniform(20, 60, n)
    growth, height = dose + rng.normal(0, 1, n), dose + age / 6 + rng.normal(0, 3, n)
    words = ["root", "leaf", "stem", "bud"]
    lines = ["plant,dose,growth,height,age,code,colour,note,day,stray"]
    for i in range(n):
        note = f"{words[int(dose[i] // 2.6)]} {words[i % 4]}"
        stray = "unknown" if i == 7 else f"{growth[i] + height[i]:.3f}"
        day = "n.d." if i == 9 else f"2024-{i // 28 + 1:02d}-{i % 28 + 1:02d}"
        height_i = "-99" if i == 11 else f"{height[i]:.3f}"
        lines.append(
            f"p{i},{dose[i]:.3f},{growth[i]:.3f},{height_i},{age[i]:.1f},{i % 8},"
            f"{'green' if dose[i] > 5 else 'red'},{note},{day},{stray}"
        )
    return "\n".join(lines) + "\n"


QUESTIONS = {
    "compare": COMPARED,
    "rank": {"source": "dose", "targets": "growth,height,age"},
    "contrast": {"weights": ["dose~growth=1", "dose~height=-0.5"]},
    "dependence": {"x": "dose", "y": "height"},
    "groups": {"x": "dose", "y": "growth", "by": "colour"},
    "matrix": {"variables": "dose,growth,height"},
    "scan": {"sources": "growth,age", "first": "dose", "second": "height"},
    "sensitivity": COMPARED,
}
# What is chosen on the page: places, options, kinds of columns by name, how the file is read.
CASES = {
    **{name: {"question": name, "places": places} for name, places in QUESTIONS.items()},
    "named blocks on one scale": {"places": BLOCKS, "options": {"kernel": "standardized"}},
    "a row filter": {"places": COMPARED, "options": {"where": "dose > 2 and colour = 'green'"}},
    "missing codes": {
        "places": COMPARED,
        "options": {"missing": "drop"},
        "reading": {"na": "-99", "header": "yes"},
    },
    "clusters": {"places": COMPARED, "options": {"clusters": "code", "id": "plant"}},
    "time order": {"places": COMPARED, "options": {"max_lag": "2"}},
    "measure, variance, level": {
        "places": COMPARED,
        "options": {"measure": "hsic", "variance": "fixed-kernel", "alpha": "0.1"},
    },
    "kernels": {"places": COMPARED, "options": {"kernel": "dose=gaussian:2.0\ngrowth=linear"}},
    "a stray word": {
        "places": {**COMPARED, "second": "stray"},
        "options": {"missing": "drop"},
        "kinds": {"stray": "number"},
    },
    "dates with a stray word": {
        "places": {**COMPARED, "second": "day"},
        "options": {"missing": "drop"},
        "kinds": {"day": "date"},
    },
    "codes and texts": {
        "places": {"source": "dose", "first": "words=note", "second": "code"},
        "kinds": {"code": "category", "note": "text"},
    },
    "an ignored column": {
        "question": "rank",
        "places": {"source": "dose", "targets": "growth:code"},
        "kinds": {"height": "ignore"},
    },
    "covariates": {"question": "compare given", "places": {**COMPARED, "given": "age,code"}},
    "a ranking with a covariate": {
        "question": "rank given",
        "places": {"source": "dose", "targets": "growth,height", "given": "age"},
    },
}


def test_every_question_is_among_the_cases():
    assert [one for one in SENTENCES if one not in QUESTIONS] == []


def choose(visitor, case):
    """Choose on the page what a case asks for, and give the page with the answer."""
    names = field().partition("\n")[0].split(",")
    if case.get("reading"):
        visitor.do("/reading", **case["reading"])
    if case.get("kinds"):
        kinds = {f"kind-{names.index(name)}": kind for name, kind in case["kinds"].items()}
        visitor.do("/kinds", **kinds)
    visitor.act("/ask", question=case.get("question", "compare"))
    options = dict(case.get("options", {}))
    for name in {"clusters", "id"} & options.keys():
        options[name] = names.index(options[name])
    if options:
        visitor.act("/options", **options)
    return visitor.fill(**case["places"])


@pytest.mark.parametrize("case", CASES)
def test_command_and_code_repeat_the_answer(visitor, tmp_path, monkeypatch, capsys, case):
    visitor.give("field.csv", field())
    page = choose(visitor, CASES[case])
    shown = json.loads(latest(visitor, page, "answer.json").text)
    (tmp_path / "field.csv").write_text(field())
    monkeypatch.chdir(tmp_path)
    words = shlex.split(code(page, "command"))
    assert words[0] == "reldep"
    capsys.readouterr()
    assert main([*words[1:], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    known = {}
    exec(code(page, "python"), known)  # noqa: S102
    alpha = float(CASES[case].get("options", {}).get("alpha", 0.05))
    returned = json.loads(known["result"].to_json(alpha))
    expected = numbers(shown)
    assert len(expected) > 3
    assert numbers(printed) == pytest.approx(expected, rel=1e-9)
    assert numbers(returned) == pytest.approx(expected, rel=1e-9)


# Four people: the question, and the places of its sentence, with the names of their own columns.
PEOPLE = {
    "ann_": ("compare", {"source": "ann_0", "first": "ann_1", "second": "ann_2"}),
    "bob_": ("rank", {"source": "bob_2", "targets": "bob_0,bob_1,bob_3"}),
    "cem_": ("dependence", {"x": "cem_1", "y": "cem_3"}),
    "dora_": ("contrast", {"weights": ["dora_0~dora_1=1", "dora_2~dora_3=-1"]}),
}


def table(person, round_):
    """A table of this person for this round; no two are alike."""
    rng = np.random.default_rng([*person.encode(), round_])
    common = rng.normal(size=(70, 1))
    values = common * rng.uniform(0, 2, size=4) + rng.normal(size=(70, 4))
    rows = [",".join(f"{value:.5f}" for value in row) for row in values]
    return "\n".join([",".join(f"{person}{i}" for i in range(4)), *rows]) + "\n"


def ask(visitor, person, round_):
    """Ask this person's question about this round's table; give the page and the numbers."""
    question, places = PEOPLE[person]
    visitor.give(f"{person}{round_}.csv", table(person, round_))
    visitor.act("/ask", question=question)
    page = visitor.fill(**places)
    return page, json.loads(latest(visitor, page, "answer.json").text)


def test_four_people_at_once_get_their_own_numbers(server, tmp_path, monkeypatch, capsys):
    visitors = {person: Visitor(server) for person in PEOPLE}
    assert len({visitor.cookie for visitor in visitors.values()}) == 4
    with ThreadPoolExecutor(4) as pool:
        for round_ in range(2):
            asked = {one: pool.submit(ask, visitors[one], one, round_) for one in PEOPLE}
            found = {one: work.result() for one, work in asked.items()}
    monkeypatch.chdir(tmp_path)
    for person, (page, shown) in found.items():
        file, command = f"{person}1.csv", code(page, "command")
        assert command.startswith(f"reldep {PEOPLE[person][0]} {file} ")
        (tmp_path / file).write_text(table(person, 1))
        capsys.readouterr()
        assert main([*shlex.split(command)[1:], "--json"]) == 0
        expected = numbers(json.loads(capsys.readouterr().out))
        assert len(expected) > 3
        assert numbers(shown) == pytest.approx(expected, rel=1e-9), person
        assert [other for other in PEOPLE if other != person and other in page] == []
        saved = visitors[person].send("GET", "/session.json").text
        report = visitors[person].send("GET", "/report.html").text
        assert [other for other in PEOPLE if other != person and other in saved + report] == []
    stranger = Visitor(server)
    assert visitors["ann_"].send("GET", "/answers/1/table.csv").status == 200
    assert stranger.send("GET", "/answers/1/table.csv").status == 404
    assert stranger.act("/show", number=1).status == 400
