"""Several people at once on one server: nobody sees or gets what is another's."""

from __future__ import annotations

import json
import shlex
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from reldep.cli import main

from .served import Visitor, code, latest, numbers

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
