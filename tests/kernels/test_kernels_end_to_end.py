"""Where the truth is known, `compare` finds it: one case for each kind of data.

In each case the source truly depends on the first target and not, or much less, on the
second; a kernel blind to the right feature would not see it.
"""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reldep
import reldep.kernels as rk

pytestmark = pytest.mark.filterwarnings("ignore::reldep.exceptions.ReldepWarning")


def pvalue(source, first, second, kernel):
    """Test that the source depends more on the first than on the second."""
    result = reldep.compare(source, first, second, kernel={"source": kernel}, measure="cka")
    assert result.estimate > 0
    return result.pvalue


def coins(rng, m):
    return rng.permutation(np.arange(m) % 2)


def test_dna_depends_on_its_motif_and_not_on_its_length(rng):
    m = 120
    has_motif, is_long = coins(rng, m), coins(rng, m)
    strings = []
    for motif, long in zip(has_motif, is_long, strict=True):
        letters = rng.choice(list("ACGT"), 60 if long else 40)
        for start in (
            rng.choice(np.arange(0, len(letters) - 6, 6), 3, replace=False) if motif else ()
        ):
            letters[start : start + 6] = list("TATAAT")
        strings.append("".join(letters))
    assert pvalue(strings, has_motif, is_long, rk.Spectrum(4)) < 1e-4


def test_texts_depend_on_their_topic_and_not_on_their_tense(rng):
    m = 100
    topic, past = coins(rng, m), coins(rng, m)
    verbs = (("sail", "fish", "row"), ("plant", "harvest", "sow"))
    texts = [
        " and ".join(f"{verb}{'ed' if p else 's'}" for verb in rng.choice(verbs[t], 4))
        for t, p in zip(topic, past, strict=True)
    ]
    # Stemming removes the tense; without it the words of one tense are as close.
    assert pvalue(texts, topic, past, rk.Text("en")) < 1e-4
    assert pvalue(texts, topic, past, rk.Text("en", kernel="linear")) < 1e-4


def test_baskets_depend_on_the_customer_and_not_on_the_weekday(rng):
    m = 100
    vegan, weekday = coins(rng, m), rng.integers(0, 7, m).astype(str)
    shelves = (["milk", "egg", "ham", "bread", "rice"], ["tofu", "oats", "bread", "rice", "bean"])
    baskets = [set(rng.choice(shelves[v], 3)) for v in vegan]
    assert pvalue(baskets, vegan.astype(str), weekday, rk.Jaccard()) < 1e-4
    amounts = [Counter(rng.choice(shelves[v], 8).tolist()) for v in vegan]
    assert pvalue(amounts, vegan.astype(str), weekday, rk.MinMax()) < 1e-4


def test_graphs_depend_on_having_cycles_and_not_on_their_size(rng):
    m = 100
    has_cycles, is_large = coins(rng, m), coins(rng, m)
    graphs = []
    for cyclic, large in zip(has_cycles, is_large, strict=True):
        tree = nx.random_labeled_tree(14 if large else 10, seed=rng)
        leaves = [node for node, degree in tree.degree if degree == 1]
        if cyclic:
            tree.add_edges_from(zip(leaves, np.roll(leaves, 1).tolist(), strict=True))
        graphs.append(tree)
    assert pvalue(graphs, has_cycles, is_large, rk.WeisfeilerLehman(2)) < 1e-4


def test_pictures_depend_on_the_shape_and_not_on_the_camera(rng):
    m = 80
    is_cross, camera = coins(rng, m), coins(rng, m)
    pictures = rng.normal(0, 60, (m, 64, 64)) + 100
    for picture, cross in zip(pictures, is_cross, strict=True):
        if cross:
            picture[28:36] += 80
            picture[:, 28:36] += 80
        else:
            picture[8:56, 8:16] += 80
            picture[8:56, 48:56] += 80
    pictures = pictures.clip(0, 255).astype(np.uint8)
    assert pvalue(pictures, is_cross, camera, rk.Images(max_side=16)) < 1e-4

    def brightness_of_the_centre(batch):
        return batch[:, 28:36, 28:36].mean(axis=(1, 2))

    assert pvalue(pictures, is_cross, camera, rk.Embedding(brightness_of_the_centre)) < 1e-4


def test_series_depend_on_their_form_whenever_it_begins(rng):
    m = 60
    is_double, starts_late = coins(rng, m), coins(rng, m)
    series = []
    for double, late in zip(is_double, starts_late, strict=True):
        bump = np.sin(np.linspace(0, np.pi, 8)) * 3
        form = np.concatenate([bump, -bump] if double else [bump, bump])
        before = np.zeros(int(rng.integers(8, 12) if late else rng.integers(1, 4)))
        series.append(np.concatenate([before, form]) + 0.2 * rng.normal(size=len(before) + 16))
    assert pvalue(series, is_double, starts_late, rk.TimeSeries()) < 1e-4


def test_hours_depend_on_day_and_night_across_midnight(rng):
    m = 200
    is_night = coins(rng, m)
    hours = (np.where(is_night, 0.0, 12.0) + rng.normal(0, 2.0, m)) % 24
    shift = (hours > 12).astype(int)
    # "After noon" splits each of the two groups in half: it tells less than night and day.
    assert pvalue(hours, is_night, shift, rk.Periodic(24)) < 1e-4


def test_places_depend_on_the_region_across_the_date_line(rng):
    m = 120
    is_pacific, survey = coins(rng, m), coins(rng, m)
    longitude = np.where(is_pacific, 180.0, 0.0) + rng.normal(0, 15, m)
    longitude = (longitude + 180) % 360 - 180
    places = np.column_stack([rng.normal(0, 10, m), longitude])
    assert pvalue(places, is_pacific, survey, rk.Haversine()) < 1e-4


def test_frames_depend_on_what_two_columns_show_only_together(rng):
    m = 200
    frame = pd.DataFrame({"dose": rng.normal(size=m), "sex": rng.choice(["f", "m"], m)})
    signs = np.where(frame["sex"] == "f", 1.0, -1.0)
    response = signs * frame["dose"].to_numpy() + 0.3 * rng.normal(size=m)
    other = 0.3 * frame["dose"].to_numpy() + rng.normal(size=m)
    product = rk.Columns({"dose": "gaussian", "sex": "delta"})
    assert pvalue(frame, response, other, product) < 1e-4
    summed = rk.Columns({"dose": "gaussian", "sex": "delta"}, combine="sum")
    together = reldep.dependence(frame, response, kernel=(product, "auto"))
    apart = reldep.dependence(frame, response, kernel=(summed, "auto"))
    assert together.statistic > 3 * apart.statistic


def fine(rng):
    x = rng.uniform(0, 1, 150)
    return x, np.sin(8 * np.pi * x) + 0.3 * rng.normal(size=150)


def small_next_to_large(rng):
    table = rng.normal(size=(200, 2)) * (1e4, 1.0)
    return table, table[:, 1] + 0.5 * rng.normal(size=200)


def stages(rng):
    x = rng.normal(size=300)
    return pd.cut(x + rng.normal(size=300), 5, labels=list("VWXYZ")).astype(str), x


def useless_label(rng):
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "label": rng.choice(["a", "b"], 200)})
    return frame, x + 0.3 * rng.normal(size=200)


@pytest.mark.parametrize(
    ("draw", "kernel", "other", "times"),
    [
        (fine, "gaussians", "gaussian", 2.0),
        (small_next_to_large, "standardized", "auto", 5.0),
        (stages, rk.Ordered(list("VWXYZ")), "delta", 1.3),
        (useless_label, "auto", rk.Gaussian() * rk.Delta(), 1.2),
    ],
)
def test_what_one_kernel_shows_another_hides(draw, kernel, other, times):
    x, y = draw(np.random.default_rng(3))
    shown, hidden = (reldep.cka(x, y, kernel=(one, "auto")) for one in (kernel, other))
    assert shown > times * hidden


def test_bags_show_a_dependence_on_the_spread():
    rng = np.random.default_rng(1)
    spread = rng.uniform(0.5, 2.0, 60)
    cells = [rng.normal(0, s, (30, 1)) for s in spread]
    assert reldep.cka(cells, spread, kernel=(rk.Bags(), "gaussian")) > 0.4
    assert reldep.cka([cell.mean() for cell in cells], spread) < 0.2


def test_what_only_censoring_depends_on_is_not_seen():
    """400 other draws: raw time wrong in 37 of 100, survival wrong in none and right in 51."""
    wrong, right, raw_wrong = 0, 0, 0
    rng = np.random.default_rng(5)
    for _ in range(40):
        risk, other = rng.normal(size=(2, 100))
        lifetime, left = rng.exponential(np.exp(-0.7 * risk)), rng.exponential(np.exp(-1.5 * other))
        time, event = np.minimum(lifetime, left), lifetime <= left
        raw, ours = (reldep.compare(t, risk, other) for t in (time, reldep.Survival(time, event)))
        raw_wrong += raw.pvalue < 0.05 and raw.statistic < 0
        wrong += ours.pvalue < 0.05 and ours.statistic < 0
        right += ours.pvalue < 0.05 and ours.statistic > 0
    # With 40 samples, 1 or fewer wrong answers at a level of 2.5% per side.
    assert wrong <= 1
    assert raw_wrong >= 6
    assert right >= 10
