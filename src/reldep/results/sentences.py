"""The grammar of answers: every sentence that an answer prints is made here.

``[Scope,] claim: numbers (interval; statistic, p)[, strength]. [Facts.]``

The stronger dependence is named first and its number stands first. A one-sided question gets a
one-sided bound, so that the test and the bound agree. Where the data point away from what a
one-sided question asks, the sentence says so and claims nothing.
"""

from __future__ import annotations

import math
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
    limits : pair of float
        Its confidence interval, where a sentence gives it.
    strength : str
        How strong it is as a correlation, to end a clause; empty where it is not shown to exist.
    """

    name: str
    value: float
    pvalue: float | None = None
    limits: tuple[float, float] = (math.nan, math.nan)
    strength: str = ""


@dataclass(frozen=True)
class Finding:
    """The test of a difference or of a weighted sum.

    Attributes
    ----------
    estimate : float
    limits : pair of float
        Its confidence limits; those of a one-sided question are one-sided.
    law : str
        Of the statistic, such as "t(14)" or "z".
    statistic, pvalue, alpha : float
    alternative : {"two-sided", "greater", "less"}
    """

    estimate: float
    limits: tuple[float, float]
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
        low, high = self.limits
        limits = (-high, -low) if flipped else (low, high)
        level = percent(1 - self.alpha)
        if self.alternative == "two-sided":
            size, *interval = numbers([estimate, *limits])
            ratio = -self.statistic if flipped else self.statistic
            test = f"{self.law} = {in_prose(f'{ratio:.2f}')}, " if self.is_shown else ""
            return f"{size} ({level} interval {' to '.join(interval)}; {test}{p(self.pvalue)})"
        below = (self.alternative == "greater") != flipped
        size, bound = numbers([estimate, limits[0] if below else limits[1]])
        word = "at least" if below else "at most"
        return f"{size}, {word} {bound} (one-sided {level} bound; {p(self.pvalue)})"


@dataclass(frozen=True)
class Setting:
    """What all sentences of an answer share.

    Attributes
    ----------
    measure : str
        As people write it.
    alpha : float
        The level of tests; intervals are at 1 - alpha.
    given : str
        The covariates, as the end of a clause: " given age".
    scope : str or None
        The rows, such as "the 20 of 40 rows with sex = 'f'".
    """

    measure: str
    alpha: float = 0.05
    given: str = ""
    scope: str | None = None

    def say(self, clause: str, *, named: bool = False) -> str:
        """Return a clause as a sentence, with the rows that it is about.

        `named` says that the clause begins with a name from the data, which is never capitalised.

        Examples
        --------
        >>> Setting("CKA").say("it is undecided")
        'It is undecided.'
        >>> Setting("CKA", scope="the 2 of 4 rows with a > 1").say("it is undecided")
        'Among the 2 of 4 rows with a > 1, it is undecided.'
        """
        if self.scope:
            return f"Among {self.scope}, {clause}."
        return f"{clause if named else clause[:1].upper() + clause[1:]}."

    def at_once(self, top: Relation) -> tuple[str, str]:
        """Return a dependence, and its simultaneous interval with its strength."""
        size, low, high = numbers([top.value, *top.limits])
        interval = f"(simultaneous {percent(1 - self.alpha)} interval {low} to {high})"
        return size, f"{interval}{top.strength}"

    def largest(self, top: Relation) -> str:
        """Return the clause about the largest of several dependences."""
        size, interval = self.at_once(top)
        return f"the largest {self.measure} is {size}, for {top.name} {interval}"


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
    setting: Setting,
    strength: str = "",
) -> str:
    """Return which of two dependences is stronger.

    Parameters
    ----------
    wording : Wording
    relations : sequence of two Relation
        In the order of the question: the estimate is that of the first minus the second.
    finding : Finding
    setting : Setting
    strength : str, optional
        How strong both are on the scale of correlations, for a difference that is shown.

    Examples
    --------
    >>> both = [Relation("lipids", 0.353), Relation("genes", 0.62)]
    >>> test = Finding(-0.267, (-0.477, -0.0478), "t(14)", -2.58, 0.0213, 0.05)
    >>> print(comparison(of_targets("genotype"), both, test, Setting("CKA")))
    genotype is more closely related to genes than to lipids: CKA 0.620 against 0.353, a \
difference of 0.267 (95% interval 0.048 to 0.477; t(14) = 2.58, p = 0.021).
    """
    stronger, weaker = sorted(relations, key=lambda one: -one.value)
    high, low = numbers([stronger.value, weaker.value])
    if finding.is_opposite:
        asked = wording.not_shown(weaker.name, stronger.name)
        found = f"{setting.measure} {high} for {stronger.name}, {low} for {weaker.name}"
        return setting.say(f"{asked}; {OPPOSITE}: {found} ({p(finding.pvalue)})", named=True)
    found = f"{setting.measure} {high} against {low}, a difference of {finding.evidence()}"
    if finding.is_shown:
        shown = wording.shown(stronger.name, weaker.name)
        return setting.say(f"{shown}: {found}{strength}", named=True)
    asking = wording.either if finding.alternative == "two-sided" else wording.shown
    return setting.say(f"it is undecided whether {asking(stronger.name, weaker.name)}: {found}")


def neither(source: str, relations: Sequence[Relation], setting: Setting) -> str:
    """Return that neither of two targets is shown to be related to the source.

    Examples
    --------
    >>> both = [Relation("a", -0.007, 0.39), Relation("b", -0.043, 1.0)]
    >>> print(neither("diet", both, Setting("CKA")))
    Neither a (CKA −0.0070, p = 0.39) nor b (−0.0430, p > 0.99) is shown to be related to diet, so \
their difference decides nothing.
    """
    ordered = sorted(relations, key=lambda one: -one.value)
    sizes = numbers([one.value for one in ordered])
    (stronger, high), (weaker, low) = zip(ordered, sizes, strict=True)
    return setting.say(
        f"neither {stronger.name} ({setting.measure} {high}, {p(_known(stronger))}) nor "
        f"{weaker.name} ({low}, {p(_known(weaker))}) is shown to be related to "
        f"{source}{setting.given}, so their difference decides nothing"
    )


def which_are_shown(relations: Sequence[Relation], alpha: float) -> str:
    """Return which of two relations is shown to exist; nothing where both or none are.

    Examples
    --------
    >>> which_are_shown([Relation("genes", 0.01, 0.39), Relation("lipids", 0.4, 1e-5)], 0.05)
    'A relation is shown for lipids, not shown for genes (p = 0.39).'
    """
    known = [one for one in relations if one.pvalue is not None]
    shown = [one.name for one in known if _known(one) < alpha]
    rest = [f"{one.name} ({p(_known(one))})" for one in known if _known(one) >= alpha]
    if len(shown) != 1 or len(rest) != 1:
        return ""
    return f"A relation is shown for {shown[0]}, not shown for {rest[0]}."


def not_shown(relations: Sequence[Relation], alpha: float) -> str:
    """Return which pairs are not shown to be related; nothing where all are.

    Examples
    --------
    >>> not_shown([Relation("a and b", 0.4, 1e-5), Relation("c and d", 0.01, 0.39)], 0.05)
    'Not shown to be related: c and d (p = 0.39).'
    """
    known = [one for one in relations if one.pvalue is not None and one.pvalue >= alpha]
    words = [f"{one.name} ({p(_known(one))})" for one in known]
    return f"Not shown to be related: {listed(words, 5)}." if words else ""


def _known(relation: Relation) -> float:
    return 1.0 if relation.pvalue is None else relation.pvalue


def weighted_sum(formula: str, finding: Finding, setting: Setting) -> str:
    """Return whether a weighted sum of dependences differs from 0.

    Examples
    --------
    >>> test = Finding(0.051, (-0.02, 0.122), "t(30)", 1.4, 0.17, 0.05)
    >>> print(weighted_sum("CKA(a, b) − 2·CKA(c, d)", test, Setting("CKA")))
    It is undecided whether CKA(a, b) − 2·CKA(c, d) differs from 0: the estimate is 0.051 (95% \
interval −0.020 to 0.122; p = 0.17).
    """
    sides = {"two-sided": "differs from 0", "greater": "is above 0", "less": "is below 0"}
    subject, asked = f"{formula}{setting.given}", sides[finding.alternative]
    found = f"the estimate is {finding.signed_evidence()}"
    if finding.is_opposite:
        other = f"{OPPOSITE}: {number(finding.estimate)} ({p(finding.pvalue)})"
        clause = f"{subject} is not shown to be {asked.removeprefix('is ')}; {other}"
        return setting.say(clause, named=True)
    if finding.is_shown:
        side = sides["greater" if finding.estimate > 0 else "less"]
        return setting.say(f"{subject} {side}: {found}", named=True)
    return setting.say(f"it is undecided whether {subject} {asked}: {found}")


def ranking(
    source: str, best: Sequence[str], n_targets: int, top: Relation, setting: Setting
) -> str:
    """Return to which targets the source may be most closely related.

    Parameters
    ----------
    source : str
    best : sequence of str
        The targets that may be the strongest, the largest estimate first.
    n_targets : int
    top : Relation
        The target with the largest estimate, with its simultaneous interval.
    setting : Setting

    Examples
    --------
    >>> top = Relation("C18.3", 0.528, limits=(0.289, 0.739))
    >>> print(ranking("diet", ["C18.3", "C22.6"], 5, top, Setting("CKA")))
    Of 5 targets, diet may be most closely related to C18.3 or C22.6 (95% confidence); the \
largest CKA is 0.528, for C18.3 (simultaneous 95% interval 0.289 to 0.739).
    """
    start = f"of {n_targets:,} targets, {source}"
    sure = f"{setting.given} ({percent(1 - setting.alpha)} confidence)"
    if len(best) == 1:
        size, interval = setting.at_once(top)
        found = f"{setting.measure} {size} {interval}"
        return setting.say(f"{start} is most closely related to {best[0]}{sure}: {found}")
    if len(best) == n_targets:
        asked = f"to which of {n_targets:,} targets {source} is most closely related{sure}"
        return setting.say(f"it is undecided {asked}; {setting.largest(top)}")
    clause = f"{start} may be most closely related to {either(best)}{sure}"
    return setting.say(f"{clause}; {setting.largest(top)}")


def dependence(variables: str, found: Relation, setting: Setting, strength: str = "") -> str:
    """Return whether two variables are related, and how closely.

    Examples
    --------
    >>> found = Relation("", 0.666, 1.5e-7, (0.493, 0.765))
    >>> print(dependence("diet and lipids", found, Setting("CKA")))
    diet and lipids are related: CKA 0.666 (95% interval 0.493 to 0.765; p = 1.5e-7).
    """
    size, low, high = numbers([found.value, *found.limits])
    interval = f"{percent(1 - setting.alpha)} interval {low} to {high}"
    evidence = f"{setting.measure} {size} ({interval}; {p(_known(found))})"
    related = f"{variables} are related{setting.given}"
    if _known(found) < setting.alpha:
        return setting.say(f"{related}: {evidence}{strength}", named=True)
    return setting.say(f"it is not shown that {related}: {evidence}")


def several_groups(
    variables: str,
    by: str,
    groups: Sequence[Relation],
    statistic: str,
    pvalue: float,
    setting: Setting,
) -> str:
    """Return whether two variables are equally related in three groups or more.

    Examples
    --------
    >>> groups = [Relation("a", 0.21), Relation("b", 0.62), Relation("c", 0.4)]
    >>> test = "F(2, 31.0) = 4.20"
    >>> print(several_groups("x and y", "site", groups, test, 0.024, Setting("CKA")))
    x and y are not equally related in the 3 groups of site: CKA 0.620 in b, 0.400 in c, 0.210 in \
a (F(2, 31.0) = 4.20, p = 0.024).
    """
    ordered = sorted(groups, key=lambda one: -one.value)
    sizes = numbers([one.value for one in ordered])
    found = listed([f"{size} in {one.name}" for size, one in zip(sizes, ordered, strict=True)])
    related = f"equally related in the {len(groups)} groups of {by}"
    evidence = f"{setting.measure} {found} ({statistic}, {p(pvalue)})"
    if pvalue < setting.alpha:
        return setting.say(f"{variables} are not {related}: {evidence}", named=True)
    return setting.say(f"it is undecided whether {variables} are {related}: {evidence}")


def several_pairs(
    n_shown: int, n_pairs: int, top: Relation, adjustment: str, setting: Setting
) -> str:
    """Return how many pairs are related, and which most closely.

    Examples
    --------
    >>> top = Relation("a and b", 0.807, limits=(0.6, 0.9))
    >>> print(several_pairs(18, 28, top, "Holm", Setting("CKA")))
    18 of 28 pairs are related (Holm, 5%), most closely a and b: CKA 0.807 (simultaneous 95% \
interval 0.600 to 0.900).
    """
    how = f"{setting.given} ({adjustment}, {percent(setting.alpha)})"
    pairs = counted(n_pairs, "pair")
    if not n_shown:
        clause = f"none of {pairs} is shown to be related{how}"
        return setting.say(f"{clause}; {setting.largest(top)}")
    size, interval = setting.at_once(top)
    clause = f"{n_shown:,} of {pairs} {'is' if n_shown == 1 else 'are'} related{how}"
    return setting.say(f"{clause}, most closely {top.name}: {setting.measure} {size} {interval}")


def scan_of_sources(
    targets: tuple[str, str],
    counts: tuple[int, int],
    n_sources: int,
    clearest: Sequence[str],
    alternative: str,
    setting: Setting,
) -> str:
    """Return how many sources are more closely related to each of two targets.

    Parameters
    ----------
    targets : pair of str
    counts : pair of int
        The sources claimed to be more closely related to the first and to the second.
    n_sources : int
    clearest : sequence of str
        The sources claimed, the strongest evidence first.
    alternative : {"two-sided", "greater", "less"}
    setting : Setting
        With the false-discovery rate as its alpha.

    Examples
    --------
    >>> names, found = ("diet", "genotype"), ["a", "b", "c"]
    >>> print(scan_of_sources(names, (1, 2), 120, found, "two-sided", Setting("CKA")))
    Of 120 sources, 1 is more closely related to diet and 2 to genotype (false-discovery rate \
5%). The clearest: a, b, c.
    """
    first, second = targets
    wanted = {"greater": (first, second, counts[0]), "less": (second, first, counts[1])}
    if alternative in wanted:
        stronger, weaker, n = wanted[alternative]
        found = f"{_are(n)} more closely related to {stronger} than to {weaker}"
    elif sum(counts):
        found = f"{_are(counts[0])} more closely related to {first} and {counts[1]:,} to {second}"
    else:
        found = f"none is shown to be more closely related to {first} or to {second}"
    rate = f"(false-discovery rate {percent(setting.alpha)})"
    named = f" The clearest: {listed(clearest, 5)}." if clearest else ""
    return setting.say(f"of {counted(n_sources, 'source')}, {found} {rate}") + named


def scan_of_targets(
    source: str, n_shown: int, n_targets: int, top: Relation, setting: Setting
) -> str:
    """Return how many targets are related to a source, and which most closely.

    Examples
    --------
    >>> top = Relation("a", 0.8, limits=(0.6, 0.9))
    >>> print(scan_of_targets("diet", 3, 40, top, Setting("CKA")))
    Of 40 targets, 3 are related to diet (false-discovery rate 5%), most closely a: CKA 0.800 \
(simultaneous 95% interval 0.600 to 0.900).
    """
    start = f"of {counted(n_targets, 'target')}, {_are(n_shown)} related to {source}"
    rate = f"(false-discovery rate {percent(setting.alpha)})"
    if not n_shown:
        return setting.say(f"{start} {rate}; {setting.largest(top)}")
    size, interval = setting.at_once(top)
    return setting.say(
        f"{start} {rate}, most closely {top.name}: {setting.measure} {size} {interval}"
    )


def _are(n: int) -> str:
    """Return a number with its verb: "none is shown to be", "1 is", "3 are"."""
    if n == 0:
        return "none is shown to be"
    return f"{n:,} is" if n == 1 else f"{n:,} are"


@dataclass(frozen=True)
class Grid:
    """A comparison at several multiples of the bandwidth.

    Attributes
    ----------
    names : pair of str
        First and second, in the order of the question.
    factors, statistics : sequence of float
        The multiples, and the statistic of first minus second at each.
    some, every : float
        P-values of a difference at some bandwidth and at every bandwidth.
    alternative : {"two-sided", "greater", "less"}
    flips : bool
        Whether both signs are shown.
    """

    names: tuple[str, str]
    factors: Sequence[float]
    statistics: Sequence[float]
    some: float
    every: float
    alternative: str = "two-sided"
    flips: bool = False

    def claimed(self) -> tuple[str, str]:
        """Return the names in the order of the claim: the stronger first."""
        upwards = max(self.statistics) > -min(self.statistics)
        if self.alternative != "two-sided":
            upwards = self.alternative == "greater"
        return self.names if upwards else (self.names[1], self.names[0])

    def is_opposite(self) -> bool:
        """Return whether all estimates point away from what a one-sided question asks."""
        above, below = max(self.statistics) < 0, min(self.statistics) > 0
        return {"greater": above, "less": below}.get(self.alternative, False)


def bandwidths(wording: Wording, grid: Grid, setting: Setting) -> str:
    """Return whether the bandwidth decides a comparison.

    Examples
    --------
    >>> grid = Grid(("a", "b"), [0.125, 1, 8], [2.1, 2.8, 3.3], 0.01, 0.038)
    >>> print(bandwidths(of_targets("diet"), grid, Setting("CKA")))
    diet is more closely related to a than to b at every bandwidth from 1/8 to 8 times the chosen \
one (p = 0.038).
    """
    span = f"from {_fraction(min(grid.factors))} to {_fraction(max(grid.factors))}"
    where = f"{span} times the chosen one"
    if grid.flips:
        place = dict(zip(grid.statistics, grid.factors, strict=True))
        above, below = (_fraction(place[find(grid.statistics)]) for find in (max, min))
        first, second = grid.names
        return setting.say(
            f"the answer depends on the bandwidth: {wording.shown(first, second)} at {above} times "
            f"the chosen one, and {wording.shown(second, first)} at {below} times (both shown, "
            f"among multiples {span})"
        )
    claimed = grid.claimed()
    if grid.every < setting.alpha:
        clause = f"{wording.shown(*claimed)} at every bandwidth {where} ({p(grid.every)})"
        return setting.say(clause, named=True)
    some = f"({p(grid.some)}, adjusted for {counted(len(grid.factors), 'bandwidth')})"
    if grid.some < setting.alpha:
        clause = f"{wording.shown(*claimed)} at some bandwidths {where} {some}"
        rest = f"this is not shown for every one of them ({p(grid.every)})"
        return setting.say(f"{clause}; {rest}", named=True)
    if grid.is_opposite():
        clause = f"{wording.not_shown(*claimed)} at any bandwidth {where} {some}"
        return setting.say(f"{clause}; the estimates are in the opposite direction", named=True)
    asking = wording.either if grid.alternative == "two-sided" else wording.shown
    return setting.say(
        f"it is undecided at every bandwidth {where} whether {asking(*claimed)} {some}"
    )


def _fraction(factor: float) -> str:
    """Return a multiple as people write it: "1/8", "8", "0.35"."""
    whole = round(1 / factor)
    if factor < 1 and abs(whole * factor - 1) < 1e-9:
        return f"1/{whole}"
    return f"{factor:.3g}"
