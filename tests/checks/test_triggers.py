"""Every check: a case in which it must speak, and what it says, and cases in which it must not."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.signal import lfilter

import reldep
from calls import called
from reldep.kernels import Text
from reldep.words import number, pvalue_text

RNG = np.random.default_rng(8)
AGE = RNG.permutation(60) + 20.0
WORDS = ["".join(RNG.choice(list("abcdefgh"), 5)) for _ in range(200)]
NOISE = RNG.normal(size=(3, 3000))


def linear(m=200, seed=0, noise=(0.5, 1.5)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, *(x + s * rng.normal(size=m) for s in noise)


def series(m, memory, seed=0):
    steps = np.random.default_rng(seed).normal(size=m + 100) * np.sqrt(1 - memory**2)
    return lfilter([1.0], [1.0, -memory], steps)[100:]


def three(m=100, memory=0.0, seed=0):
    x, e, f = (series(m, memory, seed + k) for k in (0, 1000, 2000))
    return x, x + e, x + f


def sorted_by(key, step=1):
    data = three(80, 0.0, seed=3)
    order = np.argsort(data[key])[::step]
    return [values[order] for values in data]


def copied(times):
    rows = np.random.default_rng(1).permutation(np.tile(np.arange(100 // times), times))
    return [values[rows] for values in three(100 // times)]


def moods(order=slice(None)):
    rng = np.random.default_rng(0)
    mood = np.cumsum(rng.normal(size=120)) / 3
    texts = ["".join("ab"[int(v > 0)] * 3 + "cd"[int(v > 1)] * 3) for v in mood]
    y, z = (mood + np.cumsum(rng.normal(size=120)) / 3 for _ in range(2))
    return np.array(texts)[order].tolist(), y[order], z[order]


def far_row():
    x, y, z = linear(120)
    x[40], y[40] = 0.0, np.nan
    x[77], y[77] = 60.0, 60.0
    return x, y, z


def with_code(code, times=3):
    column = AGE.copy()
    column[:times] = code
    return column


def texts(sizes):
    rng = np.random.default_rng(3)
    return [" ".join(rng.choice(WORDS, size)) for size in sizes]


def one(data, kernel="auto", **options):
    """Ask about data and noise."""
    other = np.random.default_rng(1).normal(size=np.shape(data)[0])
    return reldep.dependence(data, other, kernel=(kernel, "auto"), names=("v", "other"), **options)


def compare(data, **options):
    return reldep.compare(*data, **options)


def said(answer):
    """Return what the cautions of an answer say, by kind."""
    found = {}
    for caution in answer.warnings:
        found.setdefault(type(caution).__name__.removesuffix("Warning"), []).append(str(caution))
    return {kind: " | ".join(words) for kind, words in found.items()}


HALF = np.where(np.arange(90) < 45, "a", "b")
WIDE = np.where(np.arange(90) < 45, 4.0, 1.0)
X, Y = NOISE[:2, :90]
HSIC = {"measure": "hsic", "alternative": "two-sided"}
BLOCK = (X[:, None] + NOISE[2, :450].reshape(90, 5), X + Y)
JUMPS = np.random.default_rng(0).binomial(10, 0.4, size=100).astype(float)
RARE = np.where(np.arange(100) < 10, NOISE[0, :100], 0.0)
SHUFFLED = np.random.default_rng(5).permutation(100)
WALKS = np.cumsum(NOISE, axis=1)
MANY_WALKS = np.cumsum(RNG.normal(size=(42, 100)), axis=1)
FAR_ROW = np.where(np.arange(60)[:, None] == 5, 40.0, RNG.normal(size=(60, 4)))
MANY = RNG.normal(size=(100, 15))
CURVES = [np.sin(3 * MANY[:, j]) + MANY[:, 2] ** 2 + RNG.normal(size=100) for j in range(2)]
SIGNED, FLIPPED = RNG.normal(size=300), RNG.exponential(size=(2, 300)) - 1

STEMS, BOTH_WORDS = (Text("en"), Text()), (Text(), Text())
TWO_TEXTS = (NOISE[0, :40], texts([20] * 40), texts([21] * 40))
TIME = np.sort(NOISE[0, :200])
ALONG = (TIME, TIME + series(200, 0.9, 1), series(200, 0.9))
CODES = pd.DataFrame({"c": np.arange(200) * 7 % 10, "sex": ["f", "m"] * 100})
MEASURED = pd.DataFrame({"age": 15 * NOISE[0, :40], "dose": 0.01 * NOISE[1, :40]})
COUNTED = sp.csr_array(RNG.poisson(RNG.integers(1, 30, (60, 1)) * RNG.random(40)))
OUTLIER = np.append(NOISE[0, 1:], 300.0)
TEN = NOISE[2, :900].reshape(90, 10)
SPELLED = np.array(["A", "a ", *"bcdefghi"] * 4)

# A call, the kind of caution and its words.
DUE = """
compare(three(100, 0.9)) -> DependentRows: use `max_lag='auto'` for a
compare(ALONG) -> DependentRows: Adjacent rows are correlated
compare(moods(), kernel={'source': Spectrum(2)}) -> DependentRows: Adjacent rows are correlated
compare(WALKS, engine='blocks') -> DependentRows: Adjacent
groups(*WALKS[:2, :90], HALF) -> DependentRows: Adjacent rows are correlated in 'a'
groups(*WALKS[:2, :90], HALF) -> DependentRows: keep one row per subject, or rows far apart
matrix(np.c_[NOISE[2, :100], WALKS[:2, :100].T]) -> DependentRows: rows are correlated (0.9
scan(MANY_WALKS[2:].T, *MANY_WALKS[:2]) -> DependentRows: all p-values
compare(copied(5)) -> RepeatedRows: rows repeat others; drop them or pass `clusters`
scan({'x': copied(5)[0]}, *copied(5)[1:]) -> RepeatedRows: rows repeat others; drop them.
one(texts([20] * 10) * 4, 'text') -> RepeatedRows: 10 different
compare(NOISE[:, :12]) -> FewUnits: approximate for 12 rows
compare(three(80), clusters=np.arange(80) // 8) -> FewUnits: approximate for 10 clusters
compare(three(100, 0.97, 4), max_lag=4) -> FewUnits: 100 rows are worth about
groups(X, Y, np.where(np.arange(90) < 12, 'a', 'b')) -> FewUnits: a (12)
one(with_code(-999)) -> MissingCodes: -999 in 'v' may mean
one(['yes', 'no', '?', 'yes'] * 15) -> MissingCodes: na='?'
one(np.array([with_code(-999, n) for n in range(1, 9)]).T) -> MissingCodes: '4' of 'v' and 3 more
compare(NOISE[:, :60], given=with_code(-99)) -> MissingCodes: may mean missing; pass `na=-99` to
scan({'s': with_code(-999), 't': AGE}, X[:60], Y[:60]) -> MissingCodes: -999 in 's' may mean missing
one(RNG.integers(0, 10, 200)) -> Kind: without an order: 'v' (0 to 9)
one(CODES) -> Kind: without an order: 'v' (0 to 9)
one(['Male', 'male', 'f', 'F '] * 15) -> Kind: ('Male', 'male'; 'f', 'F ')
one([f'{i % 25}-{i % 25 + 9}' for i in range(75)]) -> Kind: 25 labels
compare(NOISE[:, :40], clusters=SPELLED) -> Kind: labels that may be the same ('A', 'a ')
scan({'s': ['M', 'm', 'w'] * 30, 't': WIDE + X}, X, Y) -> Kind: 's' has labels that may be the same
one(NOISE[:, :30].T * [1e160, 5e161, 4e160]) -> Scale: 'column 1' ou
one(MEASURED) -> Scale: In 'v', 'age' outweighs 'dose' (standard deviation ×
one(COUNTED) -> Scale: lies in the length of its rows
one(np.append(NOISE[0, :39], 1e5)) -> Scale: in row 39
one(1e-300 * np.append(NOISE[0, :39], 1e5)) -> Scale: row 39
one(texts([4, 60] * 20), 'text') -> Scale: Texts of 'v' have
compare(TWO_TEXTS, kernel=('auto', *STEMS)) -> Unequal: as stems ('first') and words ('second')
groups(X * WIDE, Y, HALF) -> Unequal: times as much in 'a' as in
groups(X, Y, np.where(X > 0, 'high', 'low')) -> Unequal: The groups do not overlap in 'x'
one(JUMPS, Gaussian()) -> Bandwidth: may jump from sample to sample
one(RARE, Gaussian()) -> Bandwidth: More than half of the distances in 'v'
compare((X, X + 0.005 * Y, X + TEN[:, 0])) -> Copy: Nearly as dependent as copies of each other:
groups(X, np.where(HALF == 'a', 2 * X, Y), HALF) -> Copy: of each other in 'a': 'x' and 'y'
contrast({'x': X, 'y': TEN, 'z': TEN[:, :1]}, {('x', 'y'): 1, ('y', 'z'): 1}) -> Copy: both contain
matrix(np.c_[X, Y, 2 * X + 1]) -> Copy: by its values: 'variable 0' and 'variable 2'
scan(np.c_[TEN, -2 * X + 1], X, Y) -> Copy: 1 of 11 sources (source 10) may be 'first' in other
compare((1.0 * (HALF == 'b'), HALF, Y)) -> Copy: in two units or words
compare((X, *BLOCK), **HSIC) -> Measure: CKA disagrees with raw HSIC
compare(far_row(), kernel='linear', missing='drop') -> Influential: One row (row 77) carries 9
matrix(FAR_ROW, kernel='linear') -> Influential: row 5 in
scan(FAR_ROW[:, 0], FAR_ROW[:, 1:], kernel='linear') -> Influential: (row 5,
dependence(X + 0.05 * Y, TEN[:, 0], given=X) -> Covariates: of 'x'
dependence(*CURVES, given=MANY) -> Covariates: The regression on `given` is rough
dependence(X[:60], Y[:60], given=NOISE[2, :1860].reshape(60, 31)) -> Covariates: rows would tell
"""


def asked(line):
    """Make the call of a line; return what is said and what the line has of it."""
    call, words = line.split(" -> ")
    return said(called(call, globals())), words


@pytest.mark.parametrize("line", DUE.strip().splitlines())
def test_a_caution_is_given_where_it_is_due(line):
    found, expected = asked(line)
    kind, words = expected.split(": ", 1)
    assert words in found.get(kind, ""), found


# A call and the kind of caution that it does not have.
NOT_DUE = """
compare(three(100, 0.9), max_lag='auto') -> DependentRows
compare(three(100, 0.9), clusters=np.arange(100) // 10) -> DependentRows
compare((three(100, 0.9)[0][SHUFFLED], *three(100, 0.9)[1:])) -> DependentRows
compare(moods(RNG.permutation(120)), kernel={'source': Spectrum(2)}) -> DependentRows
compare(three(60, 0.0, 0)) -> DependentRows
compare(sorted_by(0)) -> DependentRows
compare(sorted_by(1)) -> DependentRows
compare((HALF, X + WIDE, TEN[:, 0])) -> DependentRows
dependence(*FLIPPED * np.sign(SIGNED), given=SIGNED) -> Covariates
scan(NOISE[2].reshape(100, 30), *MANY_WALKS[:2]) -> DependentRows
matrix(NOISE[0, :1000].reshape(100, 10)) -> DependentRows
compare(copied(1)) -> RepeatedRows
compare(copied(5), clusters=np.arange(100) % 20) -> RepeatedRows
compare([np.clip(np.round(v + 3), 1, 5) for v in three(300)]) -> RepeatedRows
one(texts([20] * 40), 'text') -> RepeatedRows
compare(three(80), clusters=np.arange(80) // 2) -> FewUnits
compare((X, WALKS[0, :90], X + Y), max_lag='auto') -> FewUnits
compare(three(100, 0.97, 4)) -> FewUnits
compare(three(100, 0.5), max_lag='auto') -> FewUnits
one(RNG.integers(0, 10, 200), 'laplace') -> Kind
one(RNG.integers(0, 10, 200), 'delta') -> Kind
one(AGE, Precomputed(np.cov(NOISE[0, :1200].reshape(60, 20)))) -> Kind
one(NOISE[:2, :30].T * [1, 50], 'standardized') -> Scale
one(JUMPS) -> Bandwidth
one(np.arange(100.0) % 4, Gaussian()) -> Bandwidth
compare(linear(100, 7, (1, 1)), **HSIC) -> Measure
compare((X, X + 0.3 * Y, X + TEN[:, 0])) -> Copy
compare(linear(120)) -> Influential
compare((OUTLIER, OUTLIER + NOISE[1], OUTLIER + NOISE[2]), engine='blocks') -> Influential
compare(TWO_TEXTS, kernel=('auto', *BOTH_WORDS)) -> Unequal
groups(X, Y, HALF) -> Unequal
"""


@pytest.mark.parametrize("line", NOT_DUE.strip().splitlines())
def test_no_caution_is_given_where_none_is_due(line):
    found, kind = asked(line)
    assert kind not in found


ORDINARY = {
    "counts": RNG.poisson(3.0, 200),
    "ratings": RNG.binomial(4, 0.5, 200) + 1,
    "0/1": RNG.integers(0, 2, 200),
    "few": RNG.integers(0, 10, 30),
    "ages": RNG.integers(18, 90, 200),
    "block": NOISE[:, :30].T,
    "wide": NOISE[0, :1200].reshape(30, 40) * np.geomspace(1, 100, 40),
    "cauchy": RNG.standard_cauchy(100),
    "sparse": sp.csr_array(RNG.poisson(0.3, (60, 80))),
    "labels": RNG.permutation(["a", "b", "c"] * 20),
    "signs": RNG.choice([-1.0, 1.0], 60),
    "three levels": RNG.choice([-1.0, 0.0, 1.0], 60),
    "around 0": RNG.integers(-5, 6, 60),
    "far below 0": RNG.normal(-1000, 300, 60).round(),
    "99 among others": np.append(RNG.integers(0, 120, 59), 99),
    "log-normal": np.exp(RNG.normal(0, 3, 60)),
    "95 to 154": np.arange(95.0, 155.0),
    # Zeros of their own: once, next to 1, in a scale of few levels.
    "one zero": np.r_[np.linspace(48.0, 92.0, 40), 0.0],
    "zeros next to 1": np.r_[np.arange(1.0, 40.0), 0.0, 0.0],
    "few levels": np.r_[np.repeat([10.0, 15.0, 20.0], 9), 0.0, 0.0],
}


@pytest.mark.parametrize("data", ORDINARY.values(), ids=ORDINARY)
def test_nothing_is_said_of_ordinary_columns(data):
    assert not {"MissingCodes", "Kind", "Scale", "Bandwidth"} & set(said(one(data)))


@pytest.mark.parametrize(
    ("column", "code"),
    [
        *((with_code(c), c) for c in (-999, -99, -9, -1, 999, 9999, 99999, 9.97e36, 2147483647)),
        (np.where(np.arange(60) < 2, -99, with_code(-999, 5)), -99),
        (np.r_[np.linspace(48.0, 92.0, 40), 0.0, 0.0, 0.0], 0),
    ],
)
def test_a_code_apart_from_the_values_is_suspected(column, code):
    assert f"{code:.15g} in 'v'" in said(one(column, "gaussian"))["MissingCodes"]


def test_the_answer_without_an_influential_row_is_that_of_the_other_rows():
    x, y, z = far_row()
    words = said(compare((x, y, z), kernel="linear", missing="drop"))["Influential"]
    others = [np.delete(values, [40, 77]) for values in (x, y, z)]
    assert f"without it {pvalue_text(compare(others, kernel='linear').pvalue)}, two-sided" in words
    x, y, z = (np.delete(values, 40) for values in (x, y, z))
    ranked = said(reldep.rank(x, {"y": y, "z": z}, kernel="linear"))["Influential"]
    assert "row 76 in 'source' ~ 'y'" in ranked


def rare(m, seed):
    """Draw a tie in which 6% of the rows, far out in x and y, make one of the relations."""
    rng = np.random.default_rng(seed)
    far = np.where(rng.uniform(size=m) < 0.06, 6.0, 0.0)
    x = far + rng.normal(size=m)
    return x, far + rng.normal(size=m), x - far + 1.84 * rng.normal(size=m)


@pytest.mark.parametrize("unit", [1.0, 1e-120, 1e200])
def test_rows_that_carry_one_relation_are_named_with_the_answer_without_them(unit):
    found = [
        said(compare([unit * v for v in rare(100, s)])).get("UnlikeTargets") for s in range(20)
    ]
    assert sum(map(bool, found)) >= 10
    seed = next(seed for seed, words in enumerate(found) if words)
    rows = re.search(r"^Few rows carry one relation: (\d) rows of 100 \(rows (.*?)\)", found[seed])
    left_out = [int(row) for row in rows[2].split(", ")]
    assert len(left_out) == int(rows[1])
    rest = compare([np.delete(values, left_out) for values in rare(100, seed)]).pvalue
    assert f"of 'source' ~ 'second'; without them {pvalue_text(rest)}." in found[seed]
    assert "ask for p < 0.025" in found[seed]


def test_few_rows_are_not_suspected_where_none_carry_or_the_answer_stands_without_them():
    # At most 2% of straight lines; three binomial errors of 40 draws above.
    lines = [said(compare(linear(100, s, (1, 1)))).get("UnlikeTargets") for s in range(40)]
    assert sum(map(bool, lines)) <= 3
    x, y, _ = linear(300, noise=(0.2, 1.0))
    y[:9] = -y[:9]
    stands = compare((x, y, NOISE[2, :300]))
    psi = stands.dependences.psi
    skewness = (psi**3).mean(axis=1) / psi.std(axis=1) ** 3
    assert abs(skewness[0] - skewness[1]) > 1.5
    assert stands.pvalue < 1e-6
    assert "UnlikeTargets" not in said(stands)


def test_raw_hsic_beside_cka_is_the_comparison_with_cka():
    text = said(compare((X, *BLOCK), **HSIC))["Measure"]
    cka = compare((X, *BLOCK))
    assert f"(difference {number(cka.estimate)}, {pvalue_text(cka.pvalue)}, two-sided)" in text


def test_rows_along_a_column_that_is_not_used_are_suspected_only_if_that_harms():
    # Independent rows, sorted by what the source and both targets depend on.
    suspected = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        hidden = np.sort(rng.normal(size=100))
        suspected += "DependentRows" in said(compare(hidden + 0.5 * rng.normal(size=(3, 100))))
    # One standard error is passed by chance in 16% of samples: more than 14 of 40 in 1 of 500.
    assert suspected <= 14
