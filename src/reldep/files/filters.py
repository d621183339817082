"""Conditions on rows, such as ``age > 40 and sex = 'f'``.

Text stands in single quotes, a column whose name is not a plain word in double quotes, as in the
column selector. ``=`` is ``==``, ``<>`` is ``!=``, ``null`` is a missing value; and, or, not, in
and is may be written in any case. Dates are written as text: ``born >= '2022-01-31'``.

Python's parser builds the tree, and Python evaluates nothing: before parsing, every word and every
text becomes a numbered placeholder, so neither keywords nor builtins exist, and `_Condition.value`
lists all nodes that do.
"""

from __future__ import annotations

import ast
import datetime
import io
import operator as op
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs

from reldep.data.frames import as_polars
from reldep.data.variables import BoolArray
from reldep.exceptions import InputError, InputTypeError, translated
from reldep.files.table import Table
from reldep.words import cell, composed

# Characters: a list of 2,000 identifiers. Levels: deeper than any condition that a person writes.
_LONGEST, _DEEPEST = 20_000, 40
_WORDS = {word: word for word in ("and", "or", "not", "in", "is")}
_WORDS |= {"=": "==", "null": "None", "none": "None", "true": "True", "false": "False"}
_SIGNS: dict[type, Callable[[Any, Any], Any]] = {ast.Eq: op.eq, ast.NotEq: op.ne, ast.Lt: op.lt}
_SIGNS |= {ast.LtE: op.le, ast.Gt: op.gt, ast.GtE: op.ge}
_ARITHMETIC = {ast.Add: op.add, ast.Sub: op.sub, ast.Mult: op.mul, ast.Div: op.truediv}
_ARITHMETIC |= {ast.Mod: op.mod}
_CONSTANTS = {bool: "boolean", int: "number", float: "number", str: "text", type(None): "null"}
_UNKNOWN = "only columns, values, comparisons, and, or, not, in, is null, + - * / % are understood"
_LIKE = "Write it like \"age > 40 and sex = 'f'\", or pass one boolean per row."
_NOT_PARSED = (SyntaxError, ValueError, tokenize.TokenError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Scope:
    """The rows that a condition left.

    Attributes
    ----------
    condition : str
        The condition as it was written; empty if the rows were chosen by booleans.
    n_rows, n_kept : int
        Rows before and after.

    Examples
    --------
    >>> str(Scope("sex = 'f'", 700, 260))
    "the 260 of 700 rows with sex = 'f'"
    """

    condition: str
    n_rows: int
    n_kept: int

    def __str__(self) -> str:
        chosen = f"with {' '.join(self.condition.split())}" if self.condition else "chosen"
        return f"the {self.n_kept:,} of {self.n_rows:,} rows {chosen}"


def restricted(table: Table, where: Any) -> Table:
    """Return a table with the rows for which a condition holds, or that booleans choose."""
    condition, is_kept = _rows_where(table, where)
    if not is_kept.any():
        named = f"the condition {condition!r}" if condition else "`where`"
        raise InputError(f"no row of {table.name} satisfies {named}.")
    made, before = table.at(np.flatnonzero(is_kept)), table.scope
    n_before = table.n_rows if before is None else before.n_rows
    both = [condition] if before is None else [before.condition, condition]
    return replace(made, scope=Scope(_all_of([*filter(None, both)]), n_before, made.n_rows))


def _all_of(conditions: Sequence[str]) -> str:
    """Return several conditions that all hold as one; nothing for none."""
    if len(conditions) < 2:
        return "".join(conditions)
    return " and ".join(f"({one})" if " or " in one.lower() else one for one in conditions)


def _rows_where(table: Table, where: Any) -> tuple[str, BoolArray]:
    """Return a condition as text, and the rows of a table for which it holds.

    Parameters
    ----------
    table : Table
    where : str, sequence of str or array of bool
        Several conditions must all hold. A row for which one is unknown is left out. The text of
        booleans is empty.

    Raises
    ------
    ValueError
        It names `where`, what is wrong and what to write instead.
    """
    each = where if isinstance(where, (list, tuple)) else [where]
    if each and all(isinstance(one, str) for one in each):
        text = composed(_all_of([*each]))
        return text, _Condition(text, table).holds()
    try:
        mask = np.asarray(where)
    except Exception:
        mask = np.empty(0)
    if mask.dtype.kind != "b" or mask.ndim != 1:
        raise InputTypeError(
            f'`where` is of type {type(where).__name__}. Pass a condition such as "age > 40".'
        )
    if len(mask) != table.n_rows:
        raise InputError(
            f"`where` has {len(mask):,} booleans for {table.n_rows:,} rows. Pass one per row."
        )
    return "", mask


class _Value(NamedTuple):
    """A part of a condition: expression, kind in plain words, and value if it is a constant."""

    expr: pl.Expr
    kind: str
    constant: Any = None


class _Condition:
    """A condition on the rows of a table.

    Attributes
    ----------
    words : list of (str, str)
        The quote and the text of the placeholders ``_0``, ``_1``, …: columns, plain or in double
        quotes, and texts in single quotes.
    tree : ast.expr
        The condition, in which placeholders stand for these words.
    frame : polars.DataFrame
        The columns that it names.
    """

    def __init__(self, where: str, table: Table) -> None:
        self.where, self.known = where, [*table.columns]
        self.words: list[tuple[str, str]] = []
        if not where.strip():
            raise InputError(f"`where` is empty. {_LIKE}")
        too_long = f"it has more than {_LONGEST:,} characters, or a NUL among them"
        self.check("\0" not in where and len(where) <= _LONGEST, too_long)
        tree: Any = None
        try:
            where.encode()
            tree = ast.parse(self._with_placeholders(), mode="eval").body
        except _NOT_PARSED:
            self.check(False, "it is not a condition (a range is written 1 <= x <= 5)")
        self.tree, level = tree, [tree]
        for _ in range(_DEEPEST):
            level = [child for node in level for child in ast.iter_child_nodes(node)]
        self.check(not level, f"it is nested more than {_DEEPEST} levels deep")
        named = dict.fromkeys(text for quote, text in self.words if quote != "'")
        names = [name for name in named if name in table.columns]
        frame = as_polars(table.read(names)) if names else pl.DataFrame()
        self.frame = frame.with_columns(cs.string().str.normalize("NFC"))
        self.n_rows = table.n_rows

    def check(self, holds: bool, why: str) -> None:
        """Raise InputError that names the condition, unless something holds."""
        if not holds:
            raise InputError(f"`where={cell(self.where)}` cannot be used: {why}. {_LIKE}")

    def holds(self) -> BoolArray:
        """Return True for the rows for which the condition holds."""
        expression = self.value(self.tree, "condition").expr.fill_null(value=False)
        with translated(f"`where={cell(self.where)}` cannot be used"):
            frame = self.frame.with_columns(pl.lit(value=True).alias("\0"))
            found = frame.select(expression).to_series().to_numpy()
        # A condition without columns, such as 1 < 2, has one value.
        return np.array(np.broadcast_to(found, self.n_rows), dtype=bool)

    def _with_placeholders(self) -> str:
        """Return the condition in Python's spelling, and collect its words."""
        written: list[str] = []
        end = None  # of a word in quotes
        for token in tokenize.generate_tokens(io.StringIO(self.where.strip()).readline):
            text, quote = token.string, token.string[:1]
            if token.type == tokenize.COMMENT:
                raise ValueError("a comment would hide what follows it")
            if token.type == tokenize.STRING:
                if quote not in "'\"" or text.startswith(quote * 3) or "\\" in text:
                    raise ValueError("only plain quotes are understood")
                if token.start == end and self.words[-1][0] == quote:  # 'it''s' has one quote
                    self.words[-1] = quote, f"{self.words[-1][1]}{text[:-1]}"
                else:
                    written.append(f"_{len(self.words)}")
                    self.words.append((quote, text[1:-1]))
                end = token.end
            elif token.type == tokenize.NAME and text.lower() not in _WORDS:
                written.append(f"_{len(self.words)}")
                self.words.append(("", text))
            elif text == ">" and written[-1:] == ["<"]:
                written[-1] = "!="
            else:
                written.append(_WORDS.get(text.lower(), text.strip()))
        return " ".join(written)

    def value(self, node: ast.expr, needed: str = "") -> _Value:
        """Return a node as an expression; raise if it is not of the kind that is needed."""
        found = _Value(pl.lit(None), "")
        match node:
            case ast.Name(id=placeholder):
                found = self._named(placeholder)
            case ast.Constant(value=own) if type(own) in _CONSTANTS:
                self.check(type(own) is not int or abs(own) < 2**63, "a number is too large")
                found = _Value(pl.lit(own), _CONSTANTS[type(own)], own)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                own = self.value(operand, "number").constant
                less = ast.BinOp(ast.Constant(0), ast.Sub(), operand)
                found = self.value(less if own is None else ast.Constant(-own))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                found = _Value(~self.value(operand, "condition").expr, "condition")
            case ast.BoolOp(op=joint, values=parts):
                join = pl.all_horizontal if isinstance(joint, ast.And) else pl.any_horizontal
                exprs = [self.value(part, "condition").expr for part in parts]
                found = _Value(join(exprs), "condition")
            case ast.BinOp(op=sign, left=left, right=right) if type(sign) in _ARITHMETIC:
                # As doubles: whole numbers would wrap around at 2^63.
                both = [self.value(part, "number").expr.cast(pl.Float64) for part in (left, right)]
                found = _Value(_ARITHMETIC[type(sign)](*both).fill_nan(None), "number")
            case ast.Compare(left=left, ops=signs, comparators=rights):
                links = map(self._compare, [left, *rights[:-1]], signs, rights)
                found = _Value(pl.all_horizontal(list(links)), "condition")
            case _:
                self.check(False, _UNKNOWN)
        fits = not needed or found.kind == needed
        is_truth = (found.kind, needed) == ("boolean", "condition")
        self.check(fits or is_truth, f"a {found.kind} stands where a {needed} is needed")
        return found

    def _compare(self, left_node: ast.expr, sign: ast.cmpop, right_node: ast.expr) -> pl.Expr:
        left = self.value(left_node)
        if isinstance(sign, (ast.In, ast.NotIn)):
            are_several = isinstance(right_node, (ast.Tuple, ast.List))
            listed = right_node.elts if are_several else [right_node]  # type: ignore[attr-defined]
            members = [self._in_kind_of(left, self.value(one)).constant for one in listed]
            self.check(None not in members, "a list contains values only, as in sex in ('f', 'm')")
            own = left.expr
            if left.kind == "number" and all(abs(one) < 2**53 for one in members):
                own, members = own.cast(pl.Float64), [float(one) for one in members]
            return own.is_in(members) ^ isinstance(sign, ast.NotIn)
        right, is_null = self.value(right_node), isinstance(sign, (ast.Is, ast.IsNot))
        self.check(is_null == (right.kind == "null"), "a missing value is written: age is null")
        if is_null:
            return left.expr.is_null() ^ isinstance(sign, ast.IsNot)
        both = self._in_kind_of(right, left).expr, self._in_kind_of(left, right).expr
        compared: pl.Expr = _SIGNS[type(sign)](*both)
        return compared

    def _in_kind_of(self, other: _Value, own: _Value) -> _Value:
        """Return `own` if both are of one kind; the text of a date becomes a date."""
        if other.kind == "date" and isinstance(own.constant, str):
            for reader in (datetime.date, datetime.datetime, datetime.time):
                try:
                    moment = reader.fromisoformat(own.constant)
                except ValueError:
                    continue
                return _Value(pl.lit(moment), "date", moment)
            self.check(False, "a date is written '2024-01-31'")
        is_dated = own.kind == "date" and isinstance(other.constant, str)
        fits = is_dated or own.kind == other.kind
        self.check(fits, f"a {own.kind} is compared with a {other.kind}")
        return own

    def _named(self, placeholder: str) -> _Value:
        """Return a column, or a text in quotes."""
        quote, name = self.words[int(placeholder[1:])]
        if quote == "'":
            return _Value(pl.lit(name), "text", name)
        if name not in self.frame.columns:
            near = ", ".join(map(repr, get_close_matches(name, self.known) or self.known[:6]))
            text = f"text stands in single quotes: '{name}'"
            self.check(False, f"there is no column {name!r} (nearest: {near}); {text}")
        kind = self.frame.schema[name]
        self.check(
            not kind.is_nested() and kind != pl.Object, f"{name!r} contains lists or objects"
        )
        own = cs.by_name(name).as_expr()  # pl.col would take "*" and "^x$" for patterns
        if kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean:
            plain = "number" if kind.is_numeric() else "date"
            return _Value(own, "boolean" if kind == pl.Boolean else plain)
        return _Value(own.cast(pl.String), "text")  # a category knows its own labels only
