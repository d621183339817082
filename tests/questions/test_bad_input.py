"""Errors are part of the interface: each names the argument, the value and the way out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reldep
from calls import refused
from reldep.exceptions import Message
from reldep.kernels import Precomputed

M = 40
RNG = np.random.default_rng(1)
X = RNG.normal(size=(M, 2))
Y = X + RNG.normal(size=(M, 2))
Z = RNG.normal(size=M) + X[:, 0]
SEX = np.array(["f", "m"])[RNG.integers(0, 2, M)]
HALF = np.repeat(["a", "b"], 20)
T = {f"t{i}": Z + noise * RNG.normal(size=M) for i, noise in enumerate((0.4, 1.0, 2.5))}
FRAME = pl.DataFrame({"age": [None, *range(M - 1)], "sex": SEX, "job": [*SEX[1:], None]})
MIXED = pl.DataFrame({"age": Z, "sex": SEX, "job": SEX[::-1]})
LONE = Precomputed(np.equal.outer(list("aaab"), list("aaab")).astype(float))
PAIRS = [("x", "t0"), ("x", "t1"), ("t0", "t1")]
RARE = np.repeat(["a", "b"], [M - 2, 2])
WIDE = np.random.default_rng(2).normal(size=(M, 27))
UNUSABLE = {**T, "one": np.ones(M), "two": np.full(M, 2.0), "none": np.full(M, np.nan)}
UNUSABLE |= {name: np.where(np.arange(M) == 3, np.nan, Z + i) for i, name in enumerate("cd")}
ONE = np.where(np.arange(M) == 4, 2.0, 1.0)
ILL = np.where(ONE > 1, "ill", "well")
LINKS = [[0, 1, 0.2, 2]]
A = reldep.influence({"x": Z, **T}, PAIRS, variance="fixed-kernel")


def holed(*rows):
    broken = X.copy()
    broken[list(rows), 1] = np.nan
    return broken


# A call, as a user writes it, and what is said: a ValueError unless it is called a TypeError. Three
# dots stand for anything.
MISTAKES = """
compare(X, Y[:30], Z) -> numbers of observations: source has 40, first has 30, second has 40
compare(X[:1], Y[:1], Z[:1]) -> only 1 observation;
compare(X[:3], Y[:3], Z[:3]) -> only 3 observations; the unbiased HSIC needs at least 4
compare(holed(2, 7), Y, Z) -> source has missing values: 2 NaN in rows 2, 7 … `missing='drop'`
compare(X, Y, np.where(np.arange(M) == 5, np.inf, Z)) -> second has … 1 infinite in row 5
compare([None, *SEX[1:]], Y, Z) -> source has missing values: 1 missing value in row 0
compare(holed(*range(38)), Y, Z, missing='drop') -> only 2 observations are left after dropping 38
paper_test(X[:4], Y[:4], Z[:4]) -> 4 observations have no standard error … 5 are needed
paper_test(*np.array([list(f'{i:03b}') for i in range(8)]).T) -> variance
compare([], Y, Z) -> source has no observations
compare([{1}] * M, Y, Z) -> TypeError: source contains objects of type set, which are neither
compare(np.ones(M), Y, Z) -> source is constant: all 40 observations are the same
compare(X, ['a'] * M, Z) -> first is constant
compare(X, Y, [f'id{i}' for i in range(M)]) -> second has a label of its own in each of 40
compare(X, Y, Z, kernel=(Precomputed(np.eye(5)), 'auto', 'auto')) -> has 5 rows for 40
compare(Precomputed(np.eye(M)), Y, Z) -> constant off its diagonal
compare(X, Y, Z, kernel='gausian') -> `kernel='gausian'` is not known (did you mean 'gaussian'?)
compare(X, Y, Z, measure='ckaa') -> `measure='ckaa'` is not known (did you mean 'cka'?)
compare(X, Y, Z, alternative='more') -> is not known; pass one of 'two-sided', 'greater', 'less'
compare(X, Y, Z, engine='dens') -> did you mean 'dense'
compare(X, Y, Z, engine=3) -> TypeError: `engine` is of type int
compare(X, Y, Z, kernel=('auto', 'auto')) -> kernel is a tuple of 2 for 3 variables
compare(X, Y, Z, kernel={'sauce': 'auto'}) -> kernel names 'sauce' … (did you mean 'source'?)
compare(X, Y, Z, kernel=Gaussian) -> TypeError: pass Gaussian()
compare(X, Y, Z, kernel=3) -> TypeError: kernel for source is of type int
compare(X, Y, SEX, kernel='gaussian') -> TypeError: kernel Gaussian cannot be used for second
compare(X, Y, Z, kernel=lambda a, b: np.zeros(3)) -> kernel function for source returned shape (3,)
compare(X, Y, Z, kernel=lambda a, b: np.nan * a @ b.T) -> returned NaN or infinite values
compare(X, Y, ONE) -> all observations but one are the same in second (row 4
compare(ILL, X, Y) -> all observations but one are the same in source (row 4
rank(Z, {**T, 'rare': np.c_[ONE, ONE]}) -> all observations but one are the same in rare (row 4
matrix({**T, 'rare': ONE.astype(int)}) -> all observations but one are the same in rare (row 4
compare(X, Y, Y) -> the estimated variance of the contrast of source ~ first, source ~ second is 0
compare(X, np.c_[X[:, 1], Z], Z) -> target 'first' contains '0', which is in the source 'source'
compare(SEX, SEX.tolist(), Z) -> target 'first' is the source itself
compare(X, Y, RARE, clusters=np.arange(M) // 2) -> second varies too little
compare(X, Y, 2 * Y + 1) -> There is nothing to test
compare(X, Y, Z, measure='dcor', kernel='gaussian') -> `measure='dcor'` is defined by distances
compare(X, Y, Z, names=('a', 'b')) -> pass 3 different names, for source, first, second
compare(X, Y, Z, max_lag=40) -> `max_lag=40` does not fit 40 … pass a whole number below 40
compare(X, Y, Z, max_lag=5) -> `max_lag=5` needs at least 108 rows, … max_lag=1 … max_lag='auto'
compare(X[:30], Y[:30], Z[:30], max_lag=1) -> needs at least 36 rows, and there are 30. … 'auto'
compare(X, Y, Z, max_lag=1.5) -> whole number
compare(X, Y, Z, max_lag=True) -> whole number
compare(X, Y, Z, clusters=np.arange(M) // 2, max_lag=2) -> for a panel of units over time
compare(X, Y, Z, variance='fixed-kernel', clusters=HALF) -> cannot be combined with `clusters`
compare(X, Y, Z, clusters=[1, 2]) -> `clusters` has 2 entries for 40 observations
compare(X, Y, Z, clusters=[1] * M) -> a single cluster
compare(X, Y, Z, clusters=[None, *range(39)]) -> give every row a cluster
compare(X, Y, Z, clusters=pl.LazyFrame({'m': HALF})) -> TypeError: clusters is a lazy frame
compare(X, Y, Z, clusters='mouse') -> TypeError: to name a column
compare([*Z[:-1], 'unknown'], Y, Z) -> numbers and words: 'unknown' (row 39)
compare(X, Y, Z, given=Z[:9]) -> given has 9
compare(X, Y, Z, given=np.ones(M)) -> given is constant
compare(X, Y, Z, given='age') -> TypeError: pass the columns themselves
compare(X, Y, Z, given=[{i} for i in range(M)]) -> TypeError: columns of numbers or labels
compare(X, Y, Z, given=[f'person {i}' for i in range(M)]) -> a label of its own in every row
compare(X, Y, Z, given=X) -> source is among the columns of `given`
compare(T['t0'], Y, Z, given=np.c_[X, -T['t0'] ** 3]) -> source is among the columns of `given`
compare(T['t0'], Y, Z, given=np.c_[X, T['t0'] + X[:, 0]]) -> source is determined by the covariates
compare(X, Y, Z, given=WIDE) -> leaves what 13 of 40 rows would tell, and 20 are needed
compare(Precomputed(X @ X.T), Y, T['t1'], given=Z) -> `given` takes numbers and labels … source
compare(X, Y, Z, given=Z, clusters=(np.arange(M) // 4, np.arange(M) % 4)) -> with two `clusters`
compare(X, Y, Z, given=['1 g', '2 mg'] * 20) -> different units: '1 g' … , '2 mg'
compare('t0', 't1', 't2', data=T, clusters=HALF) -> TypeError: `clusters` is of type ndarray
compare('t0', 't1', 't1', data=T) -> `first` and `second` are both 't1'
compare('t0', ['t1', 'v'], 't2', data=T) -> no column 'v'
compare('t0', 't1', 't2') -> TypeError: pass its file as `data`
compare('t0', 't1', 't2', data=T, by='t1') -> TypeError: compare() has no argument `by`
compare(X, Y) -> TypeError: compare(): missing a required argument: 'second'
compare(X[:5], Y[:5], Z[:5], measure='hsic') -> too few … variance='fixed-kernel'
compare(FRAME, Y, Z) -> 1 NaN in row 0 (columns age); 'job': 1 missing
compare(X, Y, Z).confidence_interval(95) -> strictly between 0 and 1
compare(X, Y, Z).sample_size(power=1.0) -> strictly between 0 and 1
compare(X, Y, Z).to_json(alpha=2) -> `alpha=2`; pass a number strictly between 0 and 1
compare(X, Y, RARE).power(100) -> has no standard error
compare(X, Y, Z).describe('often') -> `alpha='often'`; pass a number
compare(X, Y, Z).influential(41) -> `k=41`; pass a whole number from 1 to 40
compare(X, Y, Z).influential(2.5) -> TypeError: `k=2.5`; pass a whole number from 1 to 40
compare(X, Y, Z).power(3) -> `n=3`; pass a whole number, at least 4
compare(X, Y, Z).power('many') -> TypeError: `n='many'`; pass a whole number, at least 4
compare(X, Y, Z, mesure='cka') -> TypeError: has no argument `mesure` (did you mean 'measure'?)
paper_test(X, Y, Z, method='joined') -> did you mean 'joint'
paper_test(X[:7], Y[:7], Z[:7], method='split') -> needs at least 10 observations, 7 given
contrast({'x': X, 'y': Y}, {('x', 'q'): 1}) -> weights names 'q', which is not a variable
contrast({'x': X, 'y': Y}, {('x', 'y'): 0}) -> weights are all 0
contrast({'x': X, 'y': Y}, {('x', 'y'): 1, ('y', 'x'): -1}) -> weights are all 0
contrast({'x': X}, [1, 2]) -> TypeError: weights is of type list; pass a mapping
contrast({'x': X}, {'xx': 1}) -> TypeError: keys are pairs of names
contrast({'x': X, 'y': Y}, {('x', 'y'): 1e308}) -> weights has numbers beyond 1e+100
contrast({'x': X, 'y': Y}, {('x', 'y'): 5e-324}) -> below 1e-100
contrast({'x': X, 'y': Y}, {('x', 'y'): 10**400}) -> pass a number
contrast({'x': X, 'y': Y}, {('x', 'y'): 'much'}) -> 'much'; pass a number
contrast(A, {('t0', 't2'): 1}, measure='hsic') -> no conditional means of ('t0', 't2'); add them
contrast(A, {('x', 't0'): 1}) -> no conditional means of ('x', 'x'), ('t0', 't0'); … self-pairs
contrast(A, {('x', 't9'): 1}) -> weights names 't9', which is not a variable
contrast(A, {('x', 't0'): 1}, kernel='linear') -> `kernel` was decided when the Influence
contrast(A, {('x', 't0'): 1}, given=Z) -> `given` was decided when
contrast(A, {('x', 't0'): 1}, measure='dcor') -> with Laplace … compute it with `kernel='distance'`
contrast(A, {('x', 't0'): 1}, measure='hsic') -> compute it with `variance='jackknife'`
influence({'x': X}, []) -> `pairs` is empty
influence({'x': X}, [('x', 'w')]) -> pairs names 'w'
rank(Z, {'a': Z ** 2}) -> 1 of at least 2 targets: 'a'
rank(Z, {}) -> 0 of at least 2 targets. For one
rank(Z, Z) -> TypeError: `targets` is of type ndarray; pass a mapping
rank(Z, pd.Series(Z)) -> TypeError: `targets` is a Series; pass a data
rank(Z, pd.DataFrame(X, columns=['a', 'a'])) -> 2 columns of the name 'a'; rename
rank(Z, {'': T['t0'], 'z': T['t1']}) -> `targets` has a variable without a name
rank(Z, {**T, 'self': Z}) -> target 'self' is the source itself
rank(Z, {'source': T['t0'], 'b': T['t1']}) -> two variables are called 'source'
rank(Z, T, names=['a', 'b', 'c']) -> pass 4 different names, for source, 3 targets
rank(Z, T, kernel=('linear',) * 3) -> a tuple of 3 for 2 variables; pass … source, targets
rank(Z, T, adjust='stepdown') -> `adjust='stepdown'` is not known (did you mean 'step-down'?)
rank(Z, T, confidence_level=95) -> `confidence_level=95`; pass a number strictly between
rank(Z, T, n_simulations=100) -> `n_simulations=100`; pass a whole number, at least 400
rank(Z, T).confidence_interval(0.99999) -> needs more than 10000 draws … `n_simulations=100001`
rank('t0', 't1,one,none,two,t2', data=UNUSABLE) -> none has missing values: 40 NaN
rank('t0', 't1,t2,c,d', data=UNUSABLE) -> c has missing values: 1 NaN … ; so have 'd'
rank(Z, A) -> TypeError: next to an Influence pass its name
rank('x', A, names=['a']) -> leave `names` out
rank('y', A) -> source names 'y', which is not a variable
rank('t2', A) -> has 0 pairs of 't2'
matrix({'a': Z}) -> `variables` has 1 of at least 2
matrix({'a': Z}, {'a': X}) -> two variables are called 'a'
matrix(T).compare(('t0', 'q'), ('t0', 't1')) -> is not a pair of this matrix
matrix(T).compare('ab', ('t0', 't1')) -> is not a pair of this matrix
matrix(T).compare(('t1', 't0'), ('t0', 't1')) -> compared with itself
matrix({'a': Z}, T).tree() -> a tree needs the normalised dependences
scan(X, Z, Z) -> first and second are the same
scan(X[:-1], Z, SEX) -> different numbers of observations: sources has 39, first has 40
scan({'a': Z[None, :], 'b': Z[None, :]}, Z, SEX) -> observations: sources has 1, first has 40
scan(pd.DataFrame(X, columns=['a', 'a']), Z, SEX) -> more than one column named 'a'
scan(np.ones((M, 2)), Z, SEX) -> none of 2 sources can be tested
scan(holed(7), Z, SEX) -> 'source 1' among the sources has missing values: 1 NaN in row 7
scan(np.c_[X, Z], Z, SEX) -> 'source 2' among the sources is 'first' itself
scan(Z, np.c_[X, Z]) -> 'target 2' among the targets is 'source' itself
scan(Z, T, alternative='less') -> compares two targets of each source; pass `second`, or leave
scan({'a': Z, 'b': Z}, T) -> pass one source and its targets, or `second` too
scan(pd.DataFrame({'d': Z, 'g': X[:, 0]}), pd.Series(Z, name='d'), SEX) -> 'd' is among the sources
scan(X[:, :0], Z, SEX) -> sources has no columns
sensitivity(X, Y, Z, factors=[1.0]) -> `factors=[1.0]`; pass at least two
sensitivity(X, Y, Z, factors=[1.0, np.nan]) -> two different positive numbers
sensitivity(X, Y, Z, factors=[1.0, 1.0]) -> two different positive numbers
sensitivity(X, Y, Z, kernel='linear') -> none of the kernels has a bandwidth (source: Linear();
sensitivity(X, Y, Z, measure='dcor') -> none of the kernels has a bandwidth
groups(X, Y, ['a'] * M) -> `by` has a single group, 'a'
groups(X, Y, np.arange(M)) -> `by` has 40 of 40 groups with fewer than 8 rows: 0 (1), 1 (1)
groups(X, Y, np.repeat(['a', 'b', 'c'], [30, 5, 5])) -> fewer than 8 rows: b (5), c (5)
groups(X, Y, HALF[:-1]) -> `by` has 39 entries for 40 observations
groups(X, Y, [None, *HALF[1:]]) -> by has missing values: 1 missing value in row 0
groups(X, Y, [1, '1'] * 20) -> by has the labels 1 and '1', which look the same
groups(X, Y, np.column_stack([HALF, HALF])) -> by has 2 columns
groups(X, Y, pl.LazyFrame({'m': HALF})) -> TypeError: by is a lazy frame
groups(X, Y, 'sex') -> TypeError: by is the string 'sex'; to name a column
groups(X, Y, [[1], [2]] * 20) -> labels that cannot be compared
groups(np.where(HALF == 'a', Z, 1.0), Y, HALF) -> all observations are the same: x in b. Leave
groups(np.where(np.arange(M) < 21, Z, 1.0), Y, HALF) -> x in b, but for row 20
groups(X, HALF, HALF) -> y in a, y in b
groups(X, Y, np.repeat(list('abcd'), 10), alternative='less') -> is for two groups, and there are 4
dependence(X, Y, n_permutations=0) -> `n_permutations=0`; pass a whole number, at least 1
dependence(X, Y, clusters=np.arange(M) // 2, n_permutations=19) -> has no effect with `test='chi-
dependence(X, Y, given=Z, test='permutation') -> cannot be combined with `given`
dependence(X, Y, measure='hsic').as_correlation() -> measure='cka'
dependence(X, WIDE[:, 0]).sample_size() -> correlation -0.0 … is not positive
dependence(X, RARE).power(100) -> has no standard error
dependence(X, Y).power(10**400) -> n=1000
dependence(X, Y).confidence_interval(10**400) -> level=1000
explain_plan(X) -> TypeError: missing a required argument: 'first'
hsic(MIXED[['age', 'sex']], Y, kernel=(Delta(), 'auto')) -> TypeError: Gaussian() * Delta
hsic(MIXED[['age', 'sex']], Y, kernel=(Gaussian() * Linear(), 'auto')) -> for the label columns
hsic(MIXED[['sex', 'job']], Y, kernel=(Gaussian() * Delta(), 'auto')) -> TypeError: no columns for
cka(X[:4], Y[:4], engine='blocks') -> too few for blocks
cka(LONE, Z[:4]) -> x varies too little for its dependence on anything to have a scale
read({'x': [1, 2]}, na=[None]) -> TypeError: pass a number, a string, or a list of these
make_spirals(0) -> `n=0`; pass a whole number
make_two_stimuli(10.5) -> TypeError: `n=10.5`; pass a whole number
make_spirals(9, gamma1=-0.1) -> `gamma1=-0.1` … at least 0
make_two_stimuli(9, noise=-1) -> `noise=-1` … at least 0
make_two_stimuli(9, visual_weight=np.nan) -> `visual_weight=nan`; pass a finite number
make_two_stimuli(9, audio_weight='much') -> TypeError: `audio_weight='much'`; pass a finite number
make_two_stimuli(9, autocorrelation=1) -> strictly between -1 and 1
plotting.region([0.5, 0.5], [1.0, 1.0], (0, 1)) -> `covariance`
plotting.volcano([1.0, 2.0], [0.0]) -> pass one per effect
plotting.volcano([], []) -> `effects` is empty
plotting.tree(LINKS, 'abc') -> `links` has shape (1, 4); pass the linkage of 3
plotting.tree(LINKS, 'ab', supports=[0.5, 1]) -> pass 1 numbers, one
plotting.tree(LINKS, 'ab', supports=[1.5]) -> outside 0 to 1; pass shares
plotting.heatmap([[1, 2, 3], [1, 2, 3]]) -> shape (2, 3); pass a square
plotting.heatmap([[1.0]]) -> with 2 rows or more
plotting.heatmap([[1, np.nan], [0, 1]]) -> `matrix` has NaN or infinite values
plotting.heatmap(np.eye(2), ['a']) -> `names` has 1 entries for 2;
plotting.heatmap(np.eye(2), links=LINKS, columns='ab') -> leave out `columns`
plotting.heatmap(np.eye(2), links=[[0, 1, 0.5]]) -> `links` has shape (1, 3)
plotting.heatmap(np.eye(2), pvalues=[0.1, 0.2]) -> `pvalues` has shape (2,); pass
finite_sample_bound(0) -> n=0
finite_sample_bound(9, 2) -> delta=2
finite_sample_bound(9, constant=-1) -> constant=-1
rotation([[1]]) -> weights has shape (1, 1)
rotation([0, 0]) -> all 0
rotation([10**400, 1]) -> weights
Precomputed(np.zeros((3, 4))) -> matrix has shape (3, 4)
Precomputed(np.arange(9.0).reshape(3, 3)) -> matrix is not symmetric (|K - K'| is up to 4)
Precomputed(np.full((3, 3), np.nan)) -> matrix has 9 values that are NaN
Precomputed(np.array([['a']])) -> TypeError: pass real numbers
Product((Gaussian(),)) -> TypeError: at least two kernels
Gaussian(0) -> bandwidth=0
Gaussian('mode') -> `bandwidth='mode'` is not known
Gaussian(True) -> TypeError: `bandwidth=True`
Gaussian(factor=-1) -> factor=-1
Gaussian(10**400) -> bandwidth=1000
Distance(3) -> exponent=3
Polynomial(0) -> degree=0
Polynomial(101) -> `degree=101`; pass a whole number from 1 to 100
Polynomial(offset=-1) -> offset=-1
"""


@pytest.mark.parametrize("line", MISTAKES.strip().splitlines())
def test_bad_input_says_what_and_how_to_go_on(line):
    assert isinstance(refused(line, globals()), Message)


@pytest.mark.parametrize("na", [-999, "-999", [-999, 10**400], ("-999", -1), np.float64(-999)])
def test_codes_for_missing_values_are_taken_out_of_data_in_memory(rng, na):
    x, y, z = rng.normal(size=(3, 40)) + 10
    x[3] = -999
    table = reldep.read({"x": x, "y": y, "z": z}, na=na)
    with pytest.raises(ValueError, match=r"missing values: 1 .* in row 3"):
        reldep.compare("x", "y", "z", data=table)
    answer = reldep.compare("x", "y", "z", data=table, missing="drop")
    assert answer.n_observations == 39
    assert "-999" not in " ".join(map(str, answer.warnings))
