"""The grammar of answers, and the sentences that several of them share.

``[Scope,] claim: numbers (interval; statistic, p)[, strength].``

The stronger dependence is named first and its number stands first. A one-sided question gets a
one-sided bound, so that the test and the bound agree. Where the data point away from what a
one-sided question asks, the sentence says so and claims nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reldep.description import Columns, Value
from reldep.words import in_prose, interval_text, listed, number, numbers, percent, pvalue_number
from reldep.words import pvalue_text as p

OPPOSITE = "in the opposite direction"
UNDECIDED = "it is undecided whether"


class Relation(NamedTuple):
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

    def is_doubtful(self, alpha: float) -> bool:
        """Return True if the relation was tested and is not shown to exist."""
        return self.pvalue is not None and self.pvalue >= alpha

    def with_pvalue(self, before: str = "") -> str:
        """Return the name and, in brackets, the p-value of a relation that was tested."""
        return f"{self.name} ({before}{p(1.0 if self.pvalue is None else self.pvalue)})"


class Finding(NamedTuple):
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

    def values(self, name: str, tested: str = "") -> list[Value]:
        """Return the key numbers: the estimate under its name, interval, statistic and p-value."""
        side = {"greater": 0, "less": 1}.get(self.alternative)
        kind = "interval" if side is None else f"{('lower', 'upper')[side]} bound"

        def written(limits: tuple[float, float]) -> str:
            return interval_text(*limits) if side is None else number(limits[side])

        level, tested = 1 - self.alpha, tested or f"({self.alternative})"
        return [
            Value("estimate", name, self.estimate),
            Value("confidence_interval", f"{percent(level)} {kind}", self.limits, written),
            Value("confidence_level", "", level),
            Value("statistic", self.law, self.statistic, two_decimals),
            Value("pvalue", f"p-value {tested}", self.pvalue, pvalue_number),
            Value("alternative", "", self.alternative),
        ]

    def evidence(self, *, signed: bool = False) -> str:
        """Return estimate, interval and p-value; unless signed, the estimate taken as positive."""
        sign = -1.0 if self.estimate < 0 and not signed else 1.0
        low, high = sorted(sign * limit for limit in self.limits)
        level = percent(1 - self.alpha)
        if self.alternative == "two-sided":
            size, start, end = numbers([sign * self.estimate, low, high])
            ratio = two_decimals(sign * self.statistic)
            test = f"{self.law} = {ratio}, " if self.is_shown else ""
            return f"{size} ({level} interval {start} to {end}; {test}{p(self.pvalue)})"
        is_lower = (self.alternative == "greater") == (sign > 0)
        size, bound = numbers([sign * self.estimate, low if is_lower else high])
        word = "at least" if is_lower else "at most"
        return f"{size}, {word} {bound} (one-sided {level} bound; {p(self.pvalue)})"


def two_decimals(value: float) -> str:
    """Return a statistic as sentences write it."""
    return in_prose(f"{value:.2f}")


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
    columns : dict of str to list
        The columns of the answer's table.
    """

    measure: str
    alpha: float = 0.05
    given: str = ""
    scope: str | None = None
    columns: Columns = field(default_factory=dict)

    @property
    def level(self) -> str:
        """The confidence level of intervals, in words."""
        return percent(1 - self.alpha)

    def say(self, clause: str, also: str = "", *, named: bool = False) -> str:
        """Return a clause as a sentence, with the rows that it is about, and another sentence.

        `named` says that the clause begins with a name from the data, which is never capitalised.

        Examples
        --------
        >>> Setting("CKA").say("it is undecided")
        'It is undecided.'
        >>> Setting("CKA", scope="the 2 of 4 rows with a > 1").say("it is undecided")
        'Among the 2 of 4 rows with a > 1, it is undecided.'
        """
        if self.scope:
            clause = f"Among {self.scope}, {clause}"
        elif not named:
            clause = clause[:1].upper() + clause[1:]
        return f"{clause}. {also}" if also else f"{clause}."

    def at_once(self, top: Relation, whose: str = "") -> str:
        """Return a dependence with its simultaneous interval, and its strength if it is shown."""
        size, low, high = numbers([top.value, *top.limits])
        interval = f"(simultaneous {self.level} interval {low} to {high})"
        return f"{size}{whose} {interval}{top.strength}"

    def largest(self, top: Relation) -> str:
        """Return the clause about the largest of several dependences, which may be chance."""
        return f"the largest {self.measure} is {self.at_once(top, f', for {top.name}')}"


class Wording(NamedTuple):
    """How two dependences are compared: of two targets, two groups, or two pairs of variables.

    Attributes
    ----------
    subject : str
        What both have in common: the source, or the two variables of all groups. Pairs of
        variables have nothing in common and are subjects themselves.
    verb : str
    place : str
        What stands before each name: "to" or "in".
    given : str
    """

    subject: str
    verb: str
    place: str
    given: str = ""

    def claim(self, a: str, b: str, word: str = "than", *, shown: bool = True) -> str:
        """Return that the first is more closely related, or with "or" that one of them is."""
        subject, rest = self._parts(a, b, word)
        return f"{subject} {self.verb}{'' if shown else ' not shown to be'} {rest}"

    def question(self, names: Sequence[str], alternative: str) -> str:
        """Return the question about two names, without covariates and the rest of its end."""
        a, b = names[::-1] if alternative == "less" else names
        word = "or" if alternative == "two-sided" else "than"
        subject, rest = self._replace(given="")._parts(a, b, word)
        return f"{self.verb.capitalize()} {subject} {rest}"

    def _parts(self, a: str, b: str, word: str) -> tuple[str, str]:
        more = "more closely related"
        if self.subject:
            both = f"{self.place} {a} {word} {self.place} {b}"
            return self.subject, f"{more} {both}{self.given}"
        if word == "or":
            return f"{a} or {b}", f"{more}{self.given}"
        return a, f"{more} than {b}{self.given}"


def of_targets(source: str, given: str = "") -> Wording:
    """Return the wording for two targets of one source."""
    return Wording(source, "is", "to", given)


def of_pairs(given: str = "") -> Wording:
    """Return the wording for two pairs of variables, each named "x and y"."""
    return Wording("", "are", "", given)


def of_groups(variables: str, given: str = "") -> Wording:
    """Return the wording for two groups of rows."""
    return Wording(variables, "are", "in", given)


def comparison(
    wording: Wording,
    relations: Sequence[Relation],
    finding: Finding,
    setting: Setting,
    strength: str = "",
) -> str:
    """Return which of two dependences is stronger, and which of them are not shown to exist.

    The two relations are in the order of the question: the estimate is that of the first minus the
    second. `strength` says how strong both are as correlations, for a difference that is shown.

    Examples
    --------
    >>> both = [Relation("lipids", 0.353), Relation("genes", 0.62)]
    >>> test = Finding(-0.267, (-0.477, -0.0478), "t(14)", -2.58, 0.0213, 0.05)
    >>> print(comparison(of_targets("genotype"), both, test, Setting("CKA")))
    genotype is more closely related to genes than to lipids: CKA 0.620 against 0.353, a \
difference of 0.267 (95% interval 0.048 to 0.477; t(14) = 2.58, p = 0.021).
    >>> both = [Relation("a", -0.007, 0.39), Relation("b", -0.043, 1.0)]
    >>> test = Finding(0.036, (-0.02, 0.09), "t(14)", 1.2, 0.25, 0.05)
    >>> print(comparison(of_targets("diet"), both, test, Setting("CKA")))
    Neither a (CKA −0.0070, p = 0.39) nor b (−0.0430, p > 0.99) is shown to be related to diet, so \
their difference decides nothing.
    """
    stronger, weaker = sorted(relations, key=lambda one: -one.value)
    high, low = numbers([stronger.value, weaker.value])
    to = f" to {wording.subject}" if wording.place == "to" else ""
    also = not_shown(relations, setting.alpha, to)
    if not finding.is_shown and all(one.is_doubtful(setting.alpha) for one in relations):
        names = stronger.with_pvalue(f"{setting.measure} {high}, "), weaker.with_pvalue(f"{low}, ")
        return setting.say(
            f"neither {names[0]} nor {names[1]} {wording.verb} shown to be related{to}"
            f"{setting.given}, so their difference decides nothing"
        )
    if finding.is_opposite:
        asked = wording.claim(weaker.name, stronger.name, shown=False)
        each = "in" if wording.place == "in" else "for"
        found = f"{setting.measure} {high} {each} {stronger.name}, {low} {each} {weaker.name}"
        clause = f"{asked}; the estimate is {OPPOSITE}: {found} ({p(finding.pvalue)})"
        return setting.say(clause, also, named=True)
    found = f"{setting.measure} {high} against {low}, a difference of {finding.evidence()}"
    if finding.is_shown:
        claim = wording.claim(stronger.name, weaker.name)
        return setting.say(f"{claim}: {found}{strength}", also, named=True)
    word = "or" if finding.alternative == "two-sided" else "than"
    claim = wording.claim(stronger.name, weaker.name, word)
    return setting.say(f"{UNDECIDED} {claim}: {found}", also)


def not_shown(relations: Sequence[Relation], alpha: float, to: str = "") -> str:
    """Return which relations were tested and are not shown to exist; nothing where all are.

    Examples
    --------
    >>> not_shown([Relation("genes", 0.4, 1e-5), Relation("lipids", 0.01, 0.39)], 0.05, " to diet")
    'Not shown to be related to diet: lipids (p = 0.39).'
    """
    words = [one.with_pvalue() for one in relations if one.is_doubtful(alpha)]
    if len(words) == len(relations) > 2:
        return f"None of them is shown to be related{to}."
    return f"Not shown to be related{to}: {listed(words, 5)}." if words else ""


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
    found = f"the estimate is {finding.evidence(signed=True)}"
    if finding.is_opposite:
        other = f"the estimate is {OPPOSITE}: {number(finding.estimate)} ({p(finding.pvalue)})"
        clause = f"{subject} is not shown to be {asked.removeprefix('is ')}; {other}"
        return setting.say(clause, named=True)
    if finding.is_shown:
        side = sides["greater" if finding.estimate > 0 else "less"]
        return setting.say(f"{subject} {side}: {found}", named=True)
    return setting.say(f"{UNDECIDED} {subject} {asked}: {found}")


def dependence(found: Relation, setting: Setting) -> str:
    """Return whether two variables are related, and how closely.

    Examples
    --------
    >>> found = Relation("diet and lipids", 0.666, 1.5e-7, (0.493, 0.765))
    >>> print(dependence(found, Setting("CKA")))
    diet and lipids are related: CKA 0.666 (95% interval 0.493 to 0.765; p = 1.5e-7).
    """
    size, low, high = numbers([found.value, *found.limits])
    interval = f"{setting.level} interval {low} to {high}"
    evidence = f"{setting.measure} {size} ({interval}; {p(found.pvalue or 0.0)})"
    related = f"{found.name} are related{setting.given}"
    if found.is_doubtful(setting.alpha):
        return setting.say(f"it is not shown that {related}: {evidence}")
    return setting.say(f"{related}: {evidence}{found.strength}", named=True)


def how_many_are_related(
    counted_things: str, n_shown: int, related: str, top: Relation, how: str, setting: Setting
) -> str:
    """Return how many of many dependences are shown to exist, and which is the strongest of them.

    Parameters
    ----------
    counted_things : str
        How many there are: "28 pairs".
    n_shown : int
    related : str
        "related", or to what: "related to diet".
    top : Relation
        The strongest of those shown, or of all if none is.
    how : str
        How their number is allowed for, such as "Holm".
    setting : Setting

    Examples
    --------
    >>> top = Relation("a and b", 0.807, limits=(0.6, 0.9))
    >>> print(how_many_are_related("28 pairs", 18, "related", top, "Holm,", Setting("CKA")))
    Of 28 pairs, 18 are related (Holm, 5%), most closely a and b: CKA 0.807 (simultaneous 95% \
interval 0.600 to 0.900).
    """
    start = f"of {counted_things}, {are(n_shown)} {related}{setting.given}"
    start += f" ({how} {percent(setting.alpha)})"
    if not n_shown:
        return setting.say(f"{start}; {setting.largest(top)}")
    which = "most closely" if n_shown > 1 else "namely"
    return setting.say(f"{start}, {which} {top.name}: {setting.measure} {setting.at_once(top)}")


def are(n: int) -> str:
    """Return a number with its verb: "none is shown to be", "1 is", "3 are"."""
    if n == 0:
        return "none is shown to be"
    return f"{n:,} is" if n == 1 else f"{n:,} are"
