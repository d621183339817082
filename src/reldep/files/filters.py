"""Conditions on rows, such as ``age > 40 and sex = 'f'``.

Text stands in single quotes, a column whose name is not a plain word in double quotes, as in the
column selector. ``=`` is ``==``, ``<>`` is ``!=``, ``null`` is a missing value; and, or, not, in
and is may be written in any case. Dates are written as text: ``born >= '2022-01-31'``.

Python's parser builds the tree, and Python evaluates nothing: before parsing, every word and every
text becomes a numbered placeholder, so neither keywords nor builtins exist, and `_Filter.value`
lists all nodes that do.
"""

from __future__ import annotations

import ast
import datetime
import io
import operator as op
import tokenize
from collections.abc import Callable  # noqa: TC003
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from reldep.data.checks import composed, translated
from reldep.exceptions import InputError, InputTypeError
from reldep.files.table import all_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from reldep.data.variables import BoolArray
    from reldep.files.table import Table

# A list of 2,000 identifiers, and deeper than any condition that a person writes.
LONGEST, DEEPEST = 20_000, 40
_SHOWN = 80
_WORDS = {word: word for word in ("and", "or", "not", "in", "is")}
_WORDS |= {"=": "==", "null": "None", "none": "None", "true": "True", "false": "False"}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: op.eq,
    ast.NotEq: op.ne,
    ast.Lt: op.lt,
    ast.LtE: op.le,
    ast.Gt: op.gt,
    ast.GtE: op.ge,
}
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: op.add,
    ast.Sub: op.sub,
    ast.Mult: op.mul,
    ast.Div: op.truediv,
    ast.Mod: op.mod,
}
_CONSTANTS = {bool: "boolean", int: "number", float: "number", str: "text", type(None): "null"}
_UNKNOWN = "only columns, values, comparisons, and, or, not, in, is null, + - * / % are understood"
_NOT_PARSED = (SyntaxError, ValueError, tokenize.TokenError, RecursionError, MemoryError)


def condition_of(where: Any) -> tuple[str, BoolArray | None]:
    """Return a condition as text, or as one boolean per row."""
    if isinstance(where, str):
        return composed(where), None
    each = where if isinstance(where, (list, tuple)) else ()
    if each and all(isinstance(one, str) for one in each):
        return composed(all_of([*each])), None
    try:
        mask = np.asarray(where)
    except Exception:
        mask = np.empty(0)
    if mask.dtype.kind != "b" or mask.ndim != 1:
        raise InputTypeError(
            f'`where` is of type {type(where).__name__}. Pass a condition such as "age > 40", or '
            "one boolean per row."
        )
    return "", mask


def rows_that_hold(table: Table, where: str) -> BoolArray:
    """Return the rows of a table for which a condition holds."""
    import polars as pl
    import polars.selectors as cs

    names = [name for name in dict.fromkeys(_parsed(where).names) if name in table.columns]
    frame = table.polars(names) if names else pl.DataFrame()
    frame = frame.with_columns(cs.string().str.normalize("NFC"))
    expression = parse_filter(where, frame.schema, known=list(table.columns))
    with translated(f"`where={where[:_SHOWN]!r}` cannot be used"):
        holds = frame.with_columns(pl.lit(value=True).alias("\0")).select(expression).to_series()
    if len(holds) != table.n_rows:  # a condition without columns, such as 1 < 2
        return np.full(table.n_rows, bool(holds[0]))
    return np.asarray(holds.to_numpy(), dtype=bool)


def parse_filter(
    where: str, schema: Mapping[str, pl.DataType], known: Sequence[str] = ()
) -> pl.Expr:
    """Return a condition as a boolean expression; a comparison with a missing value is false.

    Parameters
    ----------
    where : str
    schema : mapping of str to polars.DataType
        The columns that it may name.
    known : sequence of str
        All columns, for suggestions.

    Raises
    ------
    ValueError
        It names `where`, what is wrong and what to write instead.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"age": [39, 41], "sex": ["m", "f"]})
    >>> frame.filter(parse_filter("age > 40 and sex = 'f'", frame.schema)).rows()
    [(41, 'f')]
    """
    made = _Filter(_parsed(where), schema, known or list(schema))
    return made.value(made.text.tree, "condition").expr.fill_null(value=False)


class _Value(NamedTuple):
    """A part of a condition: expression, kind in plain words, and value if it is a constant."""

    expr: pl.Expr
    kind: str
    constant: Any = None


@dataclass(frozen=True)
class _Parsed:
    """A condition in Python's spelling."""

    where: str
    tree: ast.expr
    names: list[str]
    texts: list[str]


def _refuse(where: str, why: str) -> NoReturn:
    shown = where if len(where) <= _SHOWN else where[:_SHOWN] + "…"
    raise InputError(
        f"`where={shown!r}` cannot be used: {why}. Write it like \"age > 40 and sex = 'f'\", or "
        "pass one boolean per row."
    )


def _parsed(where: str) -> _Parsed:
    """Return the tree of a condition, with its columns and texts as placeholders."""
    if "\0" in where or len(where) > LONGEST:
        _refuse(where, f"it has more than {LONGEST:,} characters, or a NUL among them")
    try:
        where.encode()
        text, names, texts = _with_placeholders(where.strip())
        tree = ast.parse(text, mode="eval").body
    except _NOT_PARSED:
        _refuse(where, "it is not a condition (a range is written 1 <= x <= 5)")
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        _refuse(where, f"it is nested more than {DEEPEST} levels deep")
    return _Parsed(where, tree, names, texts)


def _with_placeholders(where: str) -> tuple[str, list[str], list[str]]:
    """Return a condition with columns as ``_0``, ``_1``, …, texts as ``__0``, ``__1``, …."""
    written: list[str] = []
    names: list[str] = []
    texts: list[str] = []
    end = None
    for token in tokenize.generate_tokens(io.StringIO(where).readline):
        text = token.string
        if token.type == tokenize.COMMENT:
            raise ValueError("a comment would hide what follows it")
        if token.type == tokenize.STRING:
            quote = text[0]
            if quote not in "'\"" or text.startswith(quote * 3) or "\\" in text:
                raise ValueError("only plain quotes are understood")
            found = names if quote == '"' else texts
            if token.start == end and written[-1].startswith("_"):  # 'it''s' has one quote
                found[-1] += quote + text[1:-1]
            else:
                written.append(f"{'_' if found is names else '__'}{len(found)}")
                found.append(text[1:-1])
            end = token.end
            continue
        end = None
        if token.type == tokenize.NAME and text.lower() not in _WORDS:
            written.append(f"_{len(names)}")
            names.append(text)
        elif text == ">" and written[-1:] == ["<"]:
            written[-1] = "!="
        else:
            written.append(_WORDS.get(text.lower(), text.strip()))
    return " ".join(written), names, texts


@dataclass(frozen=True)
class _Filter:
    """The tree of a condition as expressions of polars."""

    text: _Parsed
    schema: Mapping[str, pl.DataType]
    known: Sequence[str]

    def refuse(self, why: str) -> NoReturn:
        """Raise an error that names the condition."""
        _refuse(self.text.where, why)

    def value(self, node: ast.expr, needed: str = "") -> _Value:
        """Return a node as an expression; raise if it is not of the kind that is needed."""
        import polars as pl

        found: _Value
        match node:
            case ast.Name(id=placeholder):
                found = self.named(placeholder)
            case ast.Constant(value=own) if type(own) in _CONSTANTS:
                if type(own) is int and abs(own) >= 2**63:
                    self.refuse("a number is too large")
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
                links = map(self.compare, [left, *rights[:-1]], signs, rights)
                found = _Value(pl.all_horizontal(list(links)), "condition")
            case _:
                self.refuse(_UNKNOWN)
        fits = found.kind == needed or (found.kind, needed) == ("boolean", "condition")
        if needed and not fits:
            self.refuse(f"a {found.kind} stands where a {needed} is needed")
        return found

    def compare(self, left_node: ast.expr, sign: ast.cmpop, right_node: ast.expr) -> pl.Expr:
        """Return one comparison."""
        import polars as pl

        left = self.value(left_node)
        if isinstance(sign, (ast.In, ast.NotIn)):
            listed = (
                right_node.elts if isinstance(right_node, (ast.Tuple, ast.List)) else [right_node]
            )
            members = [self.in_kind_of(left, self.value(one)).constant for one in listed]
            if None in members:
                self.refuse("a list contains values only, as in sex in ('f', 'm')")
            own = left.expr
            if left.kind == "number" and all(abs(one) < 2**53 for one in members):
                own, members = own.cast(pl.Float64), [float(one) for one in members]
            return own.is_in(members) ^ isinstance(sign, ast.NotIn)
        right = self.value(right_node)
        is_null = isinstance(sign, (ast.Is, ast.IsNot))
        if is_null != (right.kind == "null"):
            self.refuse("a missing value is written: age is null")
        if is_null:
            return left.expr.is_null() ^ isinstance(sign, ast.IsNot)
        compared: pl.Expr = _COMPARE[type(sign)](
            self.in_kind_of(right, left).expr, self.in_kind_of(left, right).expr
        )
        return compared

    def in_kind_of(self, other: _Value, own: _Value) -> _Value:
        """Return `own` if both are of one kind; the text of a date becomes a date."""
        import polars as pl

        if other.kind == "date" and isinstance(own.constant, str):
            for reader in (datetime.date, datetime.datetime, datetime.time):
                try:
                    moment = reader.fromisoformat(own.constant)
                except ValueError:
                    continue
                return _Value(pl.lit(moment), "date", moment)
            self.refuse("a date is written '2024-01-31'")
        is_dated = own.kind == "date" and isinstance(other.constant, str)
        if not is_dated and own.kind != other.kind:
            self.refuse(f"a {own.kind} is compared with a {other.kind}")
        return own

    def named(self, placeholder: str) -> _Value:
        """Return a column, or a text in quotes."""
        import polars as pl
        import polars.selectors as cs

        if placeholder.startswith("__"):
            text = self.text.texts[int(placeholder[2:])]
            return _Value(pl.lit(text), "text", text)
        name = self.text.names[int(placeholder[1:])]
        if name not in self.schema:
            near = get_close_matches(name, self.known) or list(self.known)[:6]
            self.refuse(
                f"there is no column {name!r} (nearest: {', '.join(map(repr, near))}); text stands "
                f"in single quotes: '{name}'"
            )
        kind = self.schema[name]
        if kind.is_nested() or kind == pl.Object:
            self.refuse(f"{name!r} holds lists or objects")
        own = cs.by_name(name).as_expr()  # pl.col would take "*" and "^x$" for patterns
        if kind.is_numeric():
            return _Value(own, "number")
        if kind.is_temporal():
            return _Value(own, "date")
        if kind == pl.Boolean:
            return _Value(own, "boolean")
        return _Value(own.cast(pl.String), "text")  # a category knows its own labels only
