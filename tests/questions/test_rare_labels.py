"""A label that two rows have: estimates and p-values of independence, but no standard error."""

import json

import numpy as np
import pytest

import reldep
from calls import called

M = 20
RNG = np.random.default_rng(0)
X = RNG.normal(size=M)
Y = X + RNG.normal(size=M)
RARE = np.array(["a"] * (M - 2) + ["b"] * 2)
FREE = RNG.normal(size=(2, M))
COLUMNS = {"y": Y, "rare": RARE, "free": FREE[0]}


QUESTIONS = """
compare(X, Y, RARE, measure=measure)
compare(RARE, Y, X, alternative='greater', measure=measure)
dependence(X, RARE, measure=measure)
contrast({'x': X, **COLUMNS}, {('x', 'rare'): 1, ('y', 'x'): 2}, measure=measure)
rank(X, COLUMNS, measure=measure)
matrix({'x': X, **COLUMNS}, measure=measure)
scan(COLUMNS, *FREE[::-1] + X, measure=measure)
scan(X, COLUMNS, measure=measure)
"""


@pytest.mark.parametrize("measure", ["cka", "dcor"])
@pytest.mark.parametrize("question", QUESTIONS.strip().splitlines())
def test_every_question_answers_and_every_page_shows_it(question, measure):
    answer = called(question, {**globals(), "measure": measure})
    assert "inf" in answer.summary()
    assert "nan" not in answer.summary().lower()
    table = json.loads(answer.to_json())["table"]
    errors = [row.get("standard_error") for row in table]
    assert None in errors or answer.standard_error == np.inf
    answer.to_html()


def test_what_needs_no_error_is_given_and_the_rest_is_said():
    rare = reldep.dependence(X, RARE)
    assert rare.estimate == pytest.approx(reldep.cka(X, RARE))
    expected = np.sqrt(M * rare.estimate + 1)
    from scipy.stats import norm

    assert rare.pvalue == pytest.approx(2 * norm.sf(expected))
    assert rare.confidence_interval() == (0, 1)
    assert any("'y' would not vary without one of the rows" in str(w) for w in rare.warnings)
    ranking = reldep.rank(X, COLUMNS)
    others = reldep.rank(X, {"y": Y, "free": FREE[0]})
    kept = ranking.pairwise().to_numpy()[1]
    assert kept[0] == "y"
    assert kept[2] == pytest.approx(others.pairwise().to_numpy()[0][2])
    assert "rare" in ranking.best
