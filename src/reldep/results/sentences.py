"""The grammar of answers: every sentence that an answer prints is made here.

``[Scope,] claim: numbers (interval; statistic, p)[, strength]. [Facts.]``

The stronger dependence is named first and its number stands first. A one-sided question gets a
one-sided bound, so that the test and the bound agree. Where the data point away from what a
one-sided question asks, the sentence says so and claims nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from reldep.words import counted, either, in_prose, listed, number, numbers, percent
from reldep.words import pvalue_text as p

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OPPOSITE = "the estimate is in the opposite direction"


@dataclass(frozen=True)
class Relation:
    """One of the dependences that are compared.

    Attributes
    ----------
    name : str
        A target, a group, or the two variables of a pair.
    value : float
        The estimated dependence.
    pvalue : float or None
        Of independence, where it is known.
    """

    name: str
    value: float
    pvalue: float | None = None


@dataclass(frozen=True)
class Finding:
    """The test of a difference or of a weighted sum.

    Attributes
    ----------
    estimate, low, high : float
        The estimate with its confidence limits; those of a one-sided question are one-sided.
    law : str
        Of the statistic, such as "t(14)" or "z".
    statistic, pvalue, alpha : float
    alternative : {"two-sided", "greater", "less"}
    """

    estimate: float
    low: float
    high: float
    law: str
    statistic: float
    pvalue: float
    alpha: float
    alternative: str = "two-sided"

    @property
    def is_shown(self) -> bool:
        """Whether the test rejects at the level alpha."""
        return self.pvalue < self.alpha

    @property
    def is_opposite(self) -> bool:
        """Whether the estimate points away from what a one-sided question asks."""
        return (self.alternative == "greater" and self.estimate < 0) or (
            self.alternative == "less" and self.estimate > 0
        )

    def evidence(self) -> str:
        """Return size, interval and p-value of the estimate, the estimate taken as positive."""
        return self._written(abs(self.estimate), flipped=self.estimate < 0)

    def signed_evidence(self) -> str:
        """Return size, interval and p-value of the estimate with its sign."""
        return self._written(self.estimate, flipped=False)

    def _written(self, estimate: float, *, flipped: bool) -> str:
        limits = (-self.high, -self.low) if flipped else (self.low, self.high)
        level = percent(1 - self.alpha)
        if self.alternative == "two-sided":
            size, low, high = numbers([estimate, *limits])
            ratio = -self.statistic if flipped else self.statistic
            test = f"{self.law} = {in_prose(f'{ratio:.2f}')}, " if self.is_shown else ""
            return f"{size} ({level} interval {low} to {high}; {test}{p(self.pvalue)})"
        below = (self.alternative == "greater") != flipped
        size, bound = numbers([estimate, limits[0] if below else limits[1]])
        word = "at least" if below else "at most"
        return f"{size}, {word} {bound} (one-sided {level} bound; {p(self.pvalue)})"


def sentence(clause: str, scope: str | None = None, *, named: bool = False) -> str:
    """Return a clause as a sentence, with the rows that it is about.

    Parameters
    ----------
    clause : str
    scope : str, optional
        Such as "the 20 of 40 rows with sex = 'f'".
    named : bool, default False
        Whether the clause begins with a name from the data, which is never capitalised.

    Examples
    --------
    >>> sentence("it is undecided"), sentence("it is undecided", scope="the 2 of 4 rows with a > 1")
    ('It is undecided.', 'Among the 2 of 4 rows with a > 1, it is undecided.')
    """
    if scope:
        return f"Among {scope}, {clause}."
    return f"{clause if named else clause[:1].upper() + clause[1:]}."


def left_out(n_dropped: int) -> str:
    """Return how many incomplete rows were left out, as a sentence; nothing for none.

    Examples
    --------
    >>> left_out(1), left_out(3), left_out(0)
    ('1 incomplete row was left out.', '3 incomplete rows were left out.', '')
    """
    if not n_dropped:
        return ""
    verb = "was" if n_dropped == 1 else "were"
    return f"{counted(n_dropped, 'incomplete row')} {verb} left out."


class Wording(NamedTuple):
    """How a comparison of two dependences is put in words; each takes two names."""

    shown: Callable[[str, str], str]
    either: Callable[[str, str], str]
    not_shown: Callable[[str, str], str]


def of_targets(source: str, given: str = "") -> Wording:
    """Return the wording for two targets of one source."""
    return Wording(
        lambda a, b: f"{source} is more closely related to {a} than to {b}{given}",
        lambda a, b: f"{source} is more closely related to {a} or to {b}{given}",
        lambda a, b: f"{source} is not shown to be more closely related to {a} than to {b}{given}",
    )


def of_pairs(given: str = "") -> Wording:
    """Return the wording for two pairs of variables, each named "x and y"."""
    return Wording(
        lambda a, b: f"{a} are more closely related than {b}{given}",
        lambda a, b: f"{a} or {b} are more closely related{given}",
        lambda a, b: f"{a} are not shown to be more closely related than {b}{given}",
    )


def of_groups(variables: str) -> Wording:
    """Return the wording for two groups of rows."""
    return Wording(
        lambda a, b: f"{variables} are more closely related in {a} than in {b}",
        lambda a, b: f"{variables} are more closely related in {a} or in {b}",
        lambda a, b: f"{variables} are not shown to be more closely related in {a} than in {b}",
    )


def comparison(
    wording: Wording,
    relations: Sequence[Relation],
    finding: Finding,
    measure: str,
    scope: str | None = None,
    strength: str = "",
) -> str:
    """Return which of two dependences is stronger.

    Parameters
    ----------
    wording : Wording
    relations : sequence of two Relation
        In the order of the question: the estimate is that of the first minus the second.
    finding : Finding
    measure : str
        As people write it.
    scope : str, optional
        The rows that were used, see :func:`sentence`.
    strength : str, optional
        How strong both are on the scale of correlations, for a difference that is shown.

    Examples
    --------
    >>> both = [Relation("lipids", 0.353), Relation("genes", 0.62)]
    >>> test = Finding(-0.267, -0.477, -0.0478, "t(14)", -2.58, 0.0213, 0.05)
    >>> print(comparison(of_targets("genotype"), both, test, "CKA"))
    genotype is more closely related to genes than to lipids: CKA 0.620 against 0.353, a \
difference of 0.267 (95% interval 0.048 to 0.477; t(14) = 2.58, p = 0.021).
    """
    stronger, weaker = sorted(relations, key=lambda one: -one.value)
    high, low = numbers([stronger.value, weaker.value])
    if finding.is_opposite:
        asked = wording.not_shown(weaker.name, stronger.name)
        found = f"{measure} {high} for {stronger.name}, {low} for {weaker.name}"
        return sentence(f"{asked}; {OPPOSITE}: {found} ({p(finding.pvalue)})", scope, named=True)
    found = f"{measure} {high} against {low}, a difference of {finding.evidence()}"
    if finding.is_shown:
        shown = wording.shown(stronger.name, weaker.name)
        return sentence(f"{shown}: {found}{strength}", scope, named=True)
    asking = wording.either if finding.alternative == "two-sided" else wording.shown
    clause = f"it is undecided whether {asking(stronger.name, weaker.name)}: {found}"
    return sentence(clause, scope)


def neither(
    source: str, relations: Sequence[Relation], measure: str, scope: str | None = None
) -> str:
    """Return that neither of two targets is shown to be related to the source.

    Examples
    --------
    >>> print(neither("diet", [Relation("a", -0.007, 0.39), Relation("b", -0.043, 1.0)], "CKA"))
    Neither a (CKA −0.0070, p = 0.39) nor b (−0.0430, p > 0.99) is shown to be related to diet, so \
their difference decides nothing.
    """
    ordered = sorted(relations, key=lambda one: -one.value)
    sizes = numbers([one.value for one in ordered])
    (stronger, high), (weaker, low) = zip(ordered, sizes, strict=True)
    clause = (
        f"neither {stronger.name} ({measure} {high}, {p(_known(stronger))}) nor {weaker.name} "
        f"({low}, {p(_known(weaker))}) is shown to be related to {source}, so their difference "
        "decides nothing"
    )
    return sentence(clause, scope)


def which_are_shown(relations: Sequence[Relation], alpha: float) -> str:
    """Return which of two relations is shown to exist; nothing where both or none are.

    Examples
    --------
    >>> which_are_shown([Relation("genes", 0.01, 0.39), Relation("lipids", 0.4, 1e-5)], 0.05)
    'A relation is shown for lipids, not shown for genes (p = 0.39).'
    """
    shown = [one for one in relations if one.pvalue is not None and one.pvalue < alpha]
    rest = [one for one in relations if one.pvalue is not None and one.pvalue >= alpha]
    if len(shown) != 1 or len(rest) != 1:
        return ""
    doubtful = f"{rest[0].name} ({p(_known(rest[0]))})"
    return f"A relation is shown for {shown[0].name}, not shown for {doubtful}."


def not_shown(relations: Sequence[Relation], alpha: float) -> str:
    """Return which pairs are not shown to be related; nothing where all are.

    Examples
    --------
    >>> not_shown([Relation("a and b", 0.4, 1e-5), Relation("c and d", 0.01, 0.39)], 0.05)
    'Not shown to be related: c and d (p = 0.39).'
    """
    doubtful = [one for one in relations if one.pvalue is not None and one.pvalue >= alpha]
    if not doubtful:
        return ""
    words = [f"{one.name} ({p(_known(one))})" for one in doubtful]
    return f"Not shown to be related: {listed(words, 5)}."


def _known(relation: Relation) -> float:
    return 1.0 if relation.pvalue is None else relation.pvalue


def weighted_sum(formula: str, finding: Finding, given: str = "", scope: str | None = None) -> str:
    """Return whether a weighted sum of dependences differs from 0.

    Examples
    --------
    >>> test = Finding(0.051, -0.02, 0.122, "t(30)", 1.4, 0.17, 0.05)
    >>> print(weighted_sum("CKA(a, b) − 2·CKA(c, d)", test))
    It is undecided whether CKA(a, b) − 2·CKA(c, d) differs from 0: the estimate is 0.051 (95% \
interval −0.020 to 0.122; p = 0.17).
    """
    sides = {"two-sided": "differs from 0", "greater": "is above 0", "less": "is below 0"}
    found = f"the estimate is {finding.signed_evidence()}"
    if finding.is_opposite:
        side = sides[finding.alternative].removeprefix("is ")
        clause = (
            f"{formula}{given} is not shown to be {side}; {OPPOSITE}: {number(finding.estimate)} "
            f"({p(finding.pvalue)})"
        )
        return sentence(clause, scope, named=True)
    if finding.is_shown:
        side = sides["greater" if finding.estimate > 0 else "less"]
        return sentence(f"{formula}{given} {side}: {found}", scope, named=True)
    clause = f"it is undecided whether {formula}{given} {sides[finding.alternative]}: {found}"
    return sentence(clause, scope)


def ranking(
    source: str,
    best: Sequence[str],
    n_targets: int,
    top: Relation,
    limits: tuple[float, float],
    level: float,
    measure: str,
    given: str = "",
    scope: str | None = None,
) -> str:
    """Return to which targets the source may be most closely related.

    Parameters
    ----------
    source : str
    best : sequence of str
        The targets that may be the strongest, the largest estimate first.
    n_targets : int
    top : Relation
        The target with the largest estimate.
    limits : pair of float
        Its simultaneous interval.
    level : float
        The confidence level.
    measure : str
    given, scope : str
        As for the other sentences.

    Examples
    --------
    >>> top = Relation("C18.3", 0.528)
    >>> print(ranking("diet", ["C18.3", "C22.6"], 5, top, (0.289, 0.739), 0.95, "CKA"))
    Of 5 targets, diet may be most closely related to C18.3 or C22.6 (95% confidence); the \
largest CKA is 0.528, for C18.3 (simultaneous interval 0.289 to 0.739).
    """
    size, low, high = numbers([top.value, *limits])
    interval = f"(simultaneous interval {low} to {high})"
    start, sure = f"of {n_targets:,} targets, {source}", f"({percent(level)} confidence)"
    if len(best) == 1:
        clause = (
            f"{start} is most closely related to {best[0]}{given} {sure}: {measure} {size} "
            f"{interval}"
        )
        return sentence(clause, scope)
    largest = f"the largest {measure} is {size}, for {top.name} {interval}"
    if len(best) == n_targets:
        clause = (
            f"it is undecided to which of {n_targets:,} targets {source} is most closely "
            f"related{given} {sure}; {largest}"
        )
        return sentence(clause, scope)
    clause = f"{start} may be most closely related to {either(best)}{given} {sure}; {largest}"
    return sentence(clause, scope)


def dependence(
    variables: str,
    value: float,
    limits: tuple[float, float],
    pvalue: float,
    alpha: float,
    measure: str,
    given: str = "",
    scope: str | None = None,
    strength: str = "",
) -> str:
    """Return whether two variables are related, and how closely.

    Examples
    --------
    >>> print(dependence("diet and lipids", 0.666, (0.493, 0.765), 1.5e-7, 0.05, "CKA"))
    diet and lipids are related: CKA 0.666 (95% interval 0.493 to 0.765; p = 1.5e-7).
    """
    size, low, high = numbers([value, *limits])
    interval = f"{percent(1 - alpha)} interval {low} to {high}"
    found = f"{variables} are related{given}"
    evidence = f"{measure} {size} ({interval}; {p(pvalue)})"
    if pvalue < alpha:
        return sentence(f"{found}: {evidence}{strength}", scope, named=True)
    return sentence(f"it is not shown that {found}: {evidence}", scope)


def several_groups(
    variables: str,
    by: str,
    groups: Sequence[Relation],
    statistic: str,
    pvalue: float,
    alpha: float,
    measure: str,
    scope: str | None = None,
) -> str:
    """Return whether two variables are equally related in three groups or more.

    Examples
    --------
    >>> groups = [Relation("a", 0.21), Relation("b", 0.62), Relation("c", 0.4)]
    >>> print(several_groups("x and y", "site", groups, "F(2, 31.0) = 4.20", 0.024, 0.05, "CKA"))
    x and y are not equally related in the 3 groups of site: CKA 0.620 in b, 0.400 in c, 0.210 in \
a (F(2, 31.0) = 4.20, p = 0.024).
    """
    ordered = sorted(groups, key=lambda one: -one.value)
    sizes = numbers([one.value for one in ordered])
    found = listed([f"{size} in {one.name}" for size, one in zip(sizes, ordered, strict=True)])
    place = f"in the {len(groups)} groups of {by}"
    evidence = f"{measure} {found} ({statistic}, {p(pvalue)})"
    if pvalue < alpha:
        clause = f"{variables} are not equally related {place}: {evidence}"
        return sentence(clause, scope, named=True)
    clause = f"it is undecided whether {variables} are equally related {place}: {evidence}"
    return sentence(clause, scope)


def several_pairs(
    n_shown: int,
    n_pairs: int,
    top: Relation,
    limits: tuple[float, float],
    adjustment: str,
    alpha: float,
    measure: str,
    given: str = "",
    scope: str | None = None,
) -> str:
    """Return how many pairs are related, and which most closely.

    Examples
    --------
    >>> print(several_pairs(18, 28, Relation("a and b", 0.807), (0.6, 0.9), "Holm", 0.05, "CKA"))
    18 of 28 pairs are related (Holm, 5%), most closely a and b: CKA 0.807 (simultaneous 95% \
interval 0.600 to 0.900).
    """
    size, low, high = numbers([top.value, *limits])
    interval = f"(simultaneous {percent(1 - alpha)} interval {low} to {high})"
    how = f"({adjustment}, {percent(alpha)})"
    if not n_shown:
        clause = (
            f"none of {counted(n_pairs, 'pair')} is shown to be related{given} {how}; the largest "
            f"{measure} is {size}, for {top.name} {interval}"
        )
        return sentence(clause, scope)
    verb = "is" if n_shown == 1 else "are"
    clause = (
        f"{n_shown:,} of {counted(n_pairs, 'pair')} {verb} related{given} {how}, most closely "
        f"{top.name}: {measure} {size} {interval}"
    )
    return sentence(clause, scope)


def scan_of_sources(
    first: str,
    second: str,
    counts: tuple[int, int],
    n_sources: int,
    clearest: Sequence[str],
    alpha: float,
    alternative: str = "two-sided",
    scope: str | None = None,
) -> str:
    """Return how many sources are more closely related to each of two targets.

    Parameters
    ----------
    first, second : str
    counts : pair of int
        The sources claimed to be more closely related to the first and to the second.
    n_sources : int
    clearest : sequence of str
        The sources claimed, the strongest evidence first.
    alpha : float
        The false-discovery rate.
    alternative : {"two-sided", "greater", "less"}
    scope : str, optional

    Examples
    --------
    >>> print(scan_of_sources("diet", "genotype", (1, 2), 120, ["a", "b", "c"], 0.05))
    Of 120 sources, 1 is more closely related to diet and 2 to genotype (false-discovery rate \
5%). The clearest: a, b, c.
    """
    rate = f"(false-discovery rate {percent(alpha)})"
    start = f"of {counted(n_sources, 'source')},"
    wanted = {"greater": (first, second, counts[0]), "less": (second, first, counts[1])}
    if alternative in wanted:
        stronger, weaker, n = wanted[alternative]
        found = f"{_are(n)} more closely related to {stronger} than to {weaker}"
    elif sum(counts):
        found = f"{_are(counts[0])} more closely related to {first} and {counts[1]:,} to {second}"
    else:
        found = f"none is shown to be more closely related to {first} or to {second}"
    named = f" The clearest: {listed(clearest, 5)}." if clearest else ""
    return sentence(f"{start} {found} {rate}", scope) + named


def scan_of_targets(
    source: str,
    n_shown: int,
    n_targets: int,
    top: Relation,
    limits: tuple[float, float],
    alpha: float,
    measure: str,
    scope: str | None = None,
) -> str:
    """Return how many targets are related to a source, and which most closely.

    Examples
    --------
    >>> print(scan_of_targets("diet", 3, 40, Relation("a", 0.8), (0.6, 0.9), 0.05, "CKA"))
    Of 40 targets, 3 are related to diet (false-discovery rate 5%), most closely a: CKA 0.800 \
(simultaneous 95% interval 0.600 to 0.900).
    """
    size, low, high = numbers([top.value, *limits])
    interval = f"(simultaneous {percent(1 - alpha)} interval {low} to {high})"
    start = f"of {counted(n_targets, 'target')}, {_are(n_shown)} related to {source}"
    rate = f"(false-discovery rate {percent(alpha)})"
    if not n_shown:
        largest = f"the largest {measure} is {size}, for {top.name} {interval}"
        return sentence(f"{start} {rate}; {largest}", scope)
    return sentence(f"{start} {rate}, most closely {top.name}: {measure} {size} {interval}", scope)


def _are(n: int) -> str:
    """Return a number with its verb: "none is shown to be", "1 is", "3 are"."""
    if n == 0:
        return "none is shown to be"
    return f"{n:,} is" if n == 1 else f"{n:,} are"


def bandwidths(
    wording: Wording,
    names: tuple[str, str],
    factors: Sequence[float],
    statistics: Sequence[float],
    some: float,
    every: float,
    alpha: float,
    alternative: str = "two-sided",
    *,
    flips: bool = False,
    scope: str | None = None,
) -> str:
    """Return whether the bandwidth decides a comparison.

    Parameters
    ----------
    wording : Wording
    names : pair of str
        First and second, in the order of the question.
    factors, statistics : sequence of float
        Multiples of the bandwidth, and the statistic of first minus second at each.
    some, every : float
        P-values of a difference at some bandwidth and at every bandwidth.
    alpha : float
    alternative : {"two-sided", "greater", "less"}
    flips : bool, default False
        Whether both signs are shown.
    scope : str, optional

    Examples
    --------
    >>> factors, statistics = [0.125, 1, 8], [2.1, 2.8, 3.3]
    >>> print(bandwidths(of_targets("diet"), ("a", "b"), factors, statistics, 0.01, 0.038, 0.05))
    diet is more closely related to a than to b at every bandwidth from 1/8 to 8 times the chosen \
one (p = 0.038).
    """
    grid = f"from {_fraction(min(factors))} to {_fraction(max(factors))} times the chosen one"
    first, second = names
    evidence = dict(zip(statistics, factors, strict=True))
    above, below = (_fraction(evidence[find(statistics)]) for find in (max, min))
    if flips:
        clause = (
            f"the answer depends on the bandwidth: {wording.shown(first, second)} at {above} times "
            f"the chosen one, and {wording.shown(second, first)} at {below} times (both shown, "
            f"among multiples {grid.removesuffix(' times the chosen one')})"
        )
        return sentence(clause, scope)
    adjusted = f"adjusted for {counted(len(factors), 'bandwidth')}"
    claimed = {"greater": (first, second), "less": (second, first)}.get(
        alternative, (first, second) if max(statistics) > -min(statistics) else (second, first)
    )
    if every < alpha:
        clause = f"{wording.shown(*claimed)} at every bandwidth {grid} ({p(every)})"
        return sentence(clause, scope, named=True)
    if some < alpha:
        clause = (
            f"{wording.shown(*claimed)} at some bandwidths {grid} ({p(some)}, {adjusted}); this "
            f"is not shown for every one of them ({p(every)})"
        )
        return sentence(clause, scope, named=True)
    opposite = {"greater": max(statistics) < 0, "less": min(statistics) > 0}
    if opposite.get(alternative):
        asked = wording.not_shown(*claimed)
        clause = (
            f"{asked} at any bandwidth {grid} ({p(some)}, {adjusted}); the estimates are in the "
            "opposite direction"
        )
        return sentence(clause, scope, named=True)
    asking = wording.either if alternative == "two-sided" else wording.shown
    clause = (
        f"it is undecided at every bandwidth {grid} whether {asking(*claimed)} ({p(some)}, "
        f"{adjusted})"
    )
    return sentence(clause, scope)


def _fraction(factor: float) -> str:
    """Return a multiple as people write it: "1/8", "8", "0.35"."""
    whole = round(1 / factor)
    if factor < 1 and abs(whole * factor - 1) < 1e-9:
        return f"1/{whole}"
    return f"{factor:.3g}"
