"""Spectrum and EditDistance: known values, the median, and every refusal."""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from reldep.kernels import Delta, EditDistance, Spectrum, check_kernel
from reldep.kernels.strings import median_edit_distance


def spectrum_by_hand(data, k):
    counted = [Counter(s[i : i + k] for i in range(len(s) - k + 1)) for s in data]
    return np.array([[sum(a[w] * b[w] for w in a) for b in counted] for a in counted])


@given(
    data=st.lists(st.text(min_size=4, max_size=12), min_size=4, max_size=10),
    k=st.integers(1, 4),
)
def test_spectrum_counts_the_shared_substrings_of_any_alphabet(data, k):
    data = [*data, "abcdefgh"]
    np.testing.assert_array_equal(Spectrum(k, normalize=False)(data), spectrum_by_hand(data, k))


def test_long_substrings_do_not_overflow():
    rng = np.random.default_rng(0)
    data = ["".join(map(chr, rng.integers(32, 50_000, 60))) for _ in range(6)]
    data[1] = data[0][:50] + data[1]
    data = [unicodedata.normalize("NFC", string) for string in data]
    np.testing.assert_array_equal(Spectrum(40, normalize=False)(data), spectrum_by_hand(data, 40))


def test_normalised_spectrum_does_not_see_the_length():
    values = Spectrum(2)(["ABABABA", "ABA", "ABABABABABABA", "BBBB"])
    np.testing.assert_allclose(values[:3, :3], 1.0)
    np.testing.assert_allclose(values[3, :3], 0.0)


def test_bytes_are_decoded_as_utf_8():
    strings = ["Zoë", "Zoé", "Zola"]
    np.testing.assert_array_equal(
        EditDistance(1.0)([string.encode() for string in strings]), EditDistance(1.0)(strings)
    )


@pytest.mark.parametrize("kernel", [EditDistance(1.0), Spectrum(1), Delta()])
def test_an_accent_counts_the_same_however_it_is_stored(kernel):
    composed, separate = "Zo\u00eb", "Zoe\u0308"
    assert kernel([composed], [separate]).item() == pytest.approx(1.0)
    assert kernel([composed], ["Zoe"]).item() < 1.0


def test_delta_counts_categories_in_composed_form():
    labels = ["Zo\u00eb", "Zoe\u0308", "Ann", "Ann"]
    assert Delta().fit(labels).label == "Delta(2 categories)"


def test_the_empty_string_is_as_far_away_as_a_string_is_long():
    data = ["", "a", "abc", ""]
    np.testing.assert_allclose(-np.log(EditDistance(1.0)(data))[0], [0, 1, 3, 0])
    assert EditDistance().fit(data).describe()["bandwidth"] == 1.5


@pytest.mark.parametrize("n", [4, 7, 50])
def test_the_bandwidth_is_the_exact_median_edit_distance(n):
    rng = np.random.default_rng(n)
    words = ["".join(rng.choice(list("ab"), rng.integers(1, 9))) for _ in range(n)]
    fitted = EditDistance().fit(words)
    distances = -np.log(EditDistance(bandwidth=1)(words))
    median = np.median(distances[np.triu_indices(n, 1)])
    assert fitted.describe() == {
        "kernel": f"EditDistance(bandwidth={median:.6g})",
        "bandwidth": pytest.approx(median),
        "rule": "median",
    }
    assert median_edit_distance(words, rows_at_a_time=3).value == pytest.approx(median)
    twice = EditDistance(factor=2.0).fit(words)
    assert twice.describe()["bandwidth"] == pytest.approx(2 * median)
    assert twice.describe()["rule"] == "2 × median"
    assert fitted.scaled(2.0).describe() == twice.describe()


def test_many_equal_strings_take_the_median_of_the_other_distances():
    words = ["spam"] * 30 + ["spams", "span", "ham"]
    known = EditDistance().fit(words).describe()
    assert known["rule"] == "median of the non-zero distances"
    distances = -np.log(EditDistance(bandwidth=1)(words))[np.triu_indices(33, 1)]
    median = np.median(distances[distances > 0])
    assert known["bandwidth"] == pytest.approx(median)


def test_edit_distance_is_not_positive_semi_definite_on_every_set_of_strings():
    words = ["abb", "aba", "aaba", "aab", "aa"]
    report = check_kernel(EditDistance(bandwidth=10), words, raise_on_failure=False)
    assert report.smallest_eigenvalue < -0.1
    assert check_kernel(Spectrum(2), words).ok


def dna(n, length, seed=0):
    letters = np.random.default_rng(seed).choice(list("ACGT"), (n, length))
    return ["".join(row) for row in letters]


def test_a_range_of_lengths_counts_as_scikit_learn_does():
    data = [*dna(8, 30), "ACG", "AC"]
    counts = CountVectorizer(analyzer="char", ngram_range=(2, 5), lowercase=False)
    rows = counts.fit_transform(data).toarray().astype(float)
    values = Spectrum((2, 5), normalize=False)(data)
    np.testing.assert_array_equal(values, rows @ rows.T)
    assert Spectrum((2, 5)).title == "Spectrum(k=(2, 5))"


def canonical_by_hand(data, k):
    other = str.maketrans("ACGT", "TGCA")
    counts = [
        Counter(
            min(s[i : i + k], s[i : i + k].translate(other)[::-1]) for i in range(len(s) - k + 1)
        )
        for s in data
    ]
    return [[sum(a[w] * b[w] for w in a) for b in counts] for a in counts]


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_both_strands_count_as_one(k):
    data = [*dna(6, 25, seed=k), "ACGTAC", "TTTTTTT"]
    kernel = Spectrum(k, normalize=False, reverse_complement=True)
    np.testing.assert_array_equal(kernel(data), canonical_by_hand(data, k))
    other = [s.translate(str.maketrans("ACGT", "TGCA"))[::-1] for s in data]
    np.testing.assert_array_equal(kernel(data, other), canonical_by_hand(data, k))


def test_case_can_be_ignored():
    data = ["acgT", "ACGT", "ttGA"]
    upper = [s.upper() for s in data]
    np.testing.assert_array_equal(Spectrum(2, ignore_case=True)(data), Spectrum(2)(upper))
    assert Spectrum(2)(data)[0, 1] < 1


def test_runs_of_tokens_are_counted_as_substrings_are():
    data = ["abcab", "bca", "abab", "cc"]
    listed = [list(s) for s in data]
    np.testing.assert_array_equal(
        Spectrum(2, normalize=False)(listed), Spectrum(2, normalize=False)(data)
    )
    words = [["the", "dog", "barks"], ["a", "dog", "barks"], ["the", "cat", "sleeps"]]
    values = Spectrum(2, normalize=False)(words)
    np.testing.assert_array_equal(values, [[2, 1, 0], [1, 2, 0], [0, 0, 2]])
