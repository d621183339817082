"""Every answer that shows CKA shows it on the scale of correlations, and claims nothing more."""

import json

import numpy as np
import pytest

import reldep


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    noise = rng.normal(size=(200, 3))
    mixed = {"strong": x + 0.5 * noise[:, 0], "weak": x + 2 * noise[:, 1], "none": noise[:, 2]}
    return x, mixed


def test_one_dependence_is_one_number_and_one_phrase(data):
    x, targets = data
    found = reldep.dependence(x, targets["strong"])
    # Two normal variables: the number is near Pearson's, though it is computed from CKA.
    pearson = np.corrcoef(x, targets["strong"])[0, 1]
    assert found.as_correlation() == pytest.approx(pearson, abs=0.05)
    assert f"about as strong as a correlation of .{100 * found.as_correlation():.0f}" in (
        found.sentence()
    )
    assert "bell-shaped" not in found.sentence()
    # The sign is not seen.
    opposite = reldep.dependence(x, -targets["strong"]).as_correlation()
    assert opposite == pytest.approx(found.as_correlation())


def test_nothing_is_said_of_a_dependence_that_is_not_shown(data):
    x, targets = data
    assert "strong" not in reldep.dependence(x, targets["none"]).sentence()
    compared = reldep.compare(x, targets["strong"], targets["none"])
    assert "as strong as correlations" not in compared.sentence()
    assert compared.to_frame()["as_correlation"].to_list()[1:] == [None, None]
    both = reldep.compare(x, targets["weak"], targets["strong"], alternative="two-sided")
    strong, weak = sorted(both.as_correlation().values(), reverse=True)
    assert f"as strong as correlations of {strong:.2f} and {weak:.2f}".replace("0.", ".") in (
        both.sentence()
    )


def test_several_columns_and_other_kernels_are_compared_with_bell_shaped_variables(data):
    x, targets = data
    several = np.column_stack([targets["strong"], targets["weak"]])
    labels = np.where(x > 0, "above", "below")
    for answer in (
        reldep.dependence(x, several),
        reldep.dependence(targets["strong"], labels),
        reldep.dependence(x, targets["strong"], kernel=reldep.kernels.Laplace(bandwidth=0.3)),
    ):
        assert answer.sentence().endswith("for two bell-shaped variables.")


@pytest.mark.parametrize("read", [str, float])
@pytest.mark.parametrize("measure", ["cka", "dcor"])
def test_two_values_on_both_sides_have_a_correlation_of_their_own(data, read, measure):
    x, targets = data
    first, second = (np.array([read(value > 0) for value in v]) for v in (x, targets["weak"]))
    phi = np.corrcoef(x > 0, targets["weak"] > 0)[0, 1]
    found = reldep.dependence(first, second, measure=measure)
    assert found.as_correlation() == pytest.approx(phi, abs=0.01)
    assert "bell-shaped" not in found.sentence()


def test_answers_about_many_have_one_per_target_pair_or_group(data):
    x, targets = data
    ranked = reldep.rank(x, targets, n_simulations=400)
    assert list(ranked.as_correlation()) == list(targets)
    column = dict(zip(*(ranked.to_frame()[name] for name in ("target", "as_correlation"))))  # noqa: B905
    assert column["strong"] == ranked.as_correlation()["strong"]
    assert column["none"] is None
    matrix = reldep.matrix({"x": x, **targets})
    assert matrix.as_correlation()["x", "strong"] == pytest.approx(column["strong"])
    group = np.repeat(["a", "b"], 100)
    split = reldep.groups(x, targets["strong"], group)
    assert list(split.as_correlation()) == ["a", "b"]
    assert min(split.as_correlation().values()) > 0.7


@pytest.mark.parametrize("kernel", ["auto", "gaussian", "linear"])
def test_a_scan_has_the_correlations_of_the_ranking_of_the_same_targets(kernel):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    targets = {"y": x + rng.normal(size=80), "z": x + 2 * rng.normal(size=80), "w": 1.0 * (x > 0)}
    scanned = reldep.scan(x, targets, kernel=kernel).as_correlation()
    assert scanned == pytest.approx(reldep.rank(x, targets, kernel=kernel).as_correlation())


def test_sentences_about_many_say_it_of_what_is_shown(data):
    x, targets = data
    both = np.concatenate([targets["strong"], targets["weak"]])
    twice = reldep.groups(np.concatenate([x, x]), both, np.repeat(["a", "b"], 200))
    assert "about as strong as correlations of" in twice.sentence()
    noise = np.random.default_rng(5).normal(size=(200, 3))
    none = reldep.rank(x, dict(zip("abc", noise.T, strict=True)), n_simulations=400)
    unrelated = reldep.groups(x, noise[:, 0], np.repeat(["a", "b"], 100))
    assert "about as strong as" not in none.sentence() + unrelated.sentence()


def test_one_dependence_has_the_limits_of_its_correlation_among_the_key_numbers(data):
    x, targets = data
    found = reldep.dependence(x, targets["weak"])
    value, low, high = json.loads(found.to_json())["as_correlation"]
    assert low < value < high
    assert value == found.as_correlation()
    shown = {one.heading: one.text for one in found.describe().numbers}
    assert shown["As a correlation"].startswith(f"{value:.2f}".removeprefix("0") + " (.")
    none = json.loads(reldep.dependence(x, targets["none"]).to_json())
    assert "as_correlation" not in none


def test_raw_hsic_has_no_such_scale(data):
    x, targets = data
    found = reldep.dependence(x, targets["strong"], measure="hsic")
    assert "as_correlation" not in found.to_frame().columns
    assert "correlation" not in found.sentence()
