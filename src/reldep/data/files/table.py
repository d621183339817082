"""A table on disk: its columns are known, its values are read when asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.cells import ROW, Cleaned, Refusal, cycle
from reldep.data.checks import cell, composed, printable, repeated
from reldep.data.files.queries import (
    WIDE,
    check_types,
    collect,
    column,
    explain,
    named,
    parse_condition,
    reading_errors,
    settled,
    tidied,
    typed_columns,
)
from reldep.data.lifetimes import censored, read_lifetimes
from reldep.data.notation import WAYS_OUT
from reldep.data.rows import (
    Places,
    Rows,
    TimeOrder,
    dates_rows,
    first_in_order,
    repeated_subjects,
    subject_column,
)
from reldep.data.selectors import (
    ColumnType,
    known_column,
    parse_lifetime,
    select_blocks,
    select_columns,
)
from reldep.exceptions import DataWarning, DependentRowsWarning, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from reldep.data.files.delimited import TextFile
    from reldep.data.files.joining import JoinReport
    from reldep.data.files.options import ReadingOptions

_SHOWN = 6
_ROWS_LOOKED_AT = 100_000
_WORDS = (ColumnType.TEXT, ColumnType.CATEGORY)
_NAMES_FEATURES = re.compile(
    r"(gene|transcript|probe|probeset|feature|protein|peptide|metabolite|otu|asv|taxon|cpg|snp|"
    r"ensembl|entrez|hgnc|symbol|ensg|uniprot)s?([ _.-]?(id|name|symbol|accession)s?)?",
    re.IGNORECASE,
)
_DATED_GENE = re.compile(
    r"\d{1,2}[-. ]?(mar|sep|sept|dec|oct|apr|feb|märz|mrz|okt|dez)[a-z]*\.?|"
    r"(mar|sep|sept|dec|oct|apr|feb|mrz|okt|dez)[-. ]\d{1,2}|\d{4}-(03|09|12|10|04|02)-\d\d.*",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Table:
    """A table, from one file or from several joined on a key.

    Attributes
    ----------
    name : str
        The file, as it was given; several joined with ``+``.
    columns : mapping of str to ColumnType
        The type of every column, in the file's order.
    join : JoinReport or None
        How many rows of each file are matched, if files were joined.
    frame : polars.LazyFrame
        The table for polars, not yet read, with the hidden column of record numbers.
    refusals : mapping of str to Refusal
        The columns that hold numbers and words, with cells of each.
    places : Places
        Where the records stand in the file; in the first of several.
    origins : mapping of str to Places
        The same for columns that come from another file.
    texts : tuple of TextFile
        The text files the table comes from.
    said : tuple of str
        What was understood about the file as a whole.
    column_said : mapping of str to sequence of str
        What was understood about a column.
    lifetimes : mapping of str to tuple of str
        The columns of times, each with its column of events and the value that marks an event,
        if the user named one.
    """

    name: str
    frame: pl.LazyFrame = field(repr=False)
    columns: Mapping[str, ColumnType] = field(repr=False)
    refusals: Mapping[str, Refusal] = field(default_factory=dict, repr=False)
    places: Places = field(default_factory=Places, repr=False)
    origins: Mapping[str, Places] = field(default_factory=dict, repr=False)
    texts: tuple[TextFile, ...] = field(default=(), repr=False)
    join: JoinReport | None = None
    said: tuple[str, ...] = ()
    column_said: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    lifetimes: Mapping[str, tuple[str, str | None]] = field(default_factory=dict, repr=False)

    def select(self, expression: str) -> list[str]:
        """Return the columns an expression such as ``"age,ge_*"`` names."""
        for time, (event, _) in self.lifetimes.items():
            if event in (piece.strip() for piece in expression.split(",")):
                raise InputError(
                    f"column {event!r} is part of the lifetimes in {time!r}; name {time!r} alone."
                )
        try:
            return select_columns(expression, self.columns, source=printable(self.name))
        except InputError as error:
            raise self.turned_round([expression], error) from None

    def turned_round(self, expressions: Iterable[str], error: InputError) -> InputError:
        """Explain a name that is not in the header but down the first column."""
        first = next(iter(self.columns), None)
        if first is None or self.columns[first] not in _WORDS or first in self.refusals:
            return error
        pieces = (text.rpartition("=")[2].split(",") for text in expressions)
        asked = {piece.strip().strip('"') for some in pieces for piece in some}
        values = self._run(self.frame.select(column(first)).head(_ROWS_LOOKED_AT), 1).to_series()
        found = next((str(value) for value in values.to_list() if str(value) in asked), None)
        if found is None:
            return error
        return InputError(
            f"no column {found!r} in {printable(self.name)}, but a row: it stands in the first "
            f"column, {first!r}. Rows are observations and columns are variables: transpose the "
            "table first."
        )

    def blocks(self, definitions: Sequence[str]) -> dict[str, list[str]]:
        """Return the blocks of columns that ``NAME=COLS`` definitions name."""
        return select_blocks(definitions, self.columns, source=printable(self.name))

    def read(self, columns: Sequence[str], where: str | None = None) -> pl.DataFrame:
        """Read some columns, and of these the rows for which a condition holds.

        Parameters
        ----------
        columns : sequence of str
            Names, as `select` returns them; a name given twice is read once.
        where : str, optional
            A condition such as ``"age > 40 and sex = 'f'"``, see `reldep.data.files.queries`.

        Returns
        -------
        polars.DataFrame
            At least one row; missing values are null.

        Raises
        ------
        ValueError
            If a column is unknown or holds numbers and words, the condition
            does not fit, no row is left, or the file cannot be read.
        """
        return self.read_rows(columns, where)[0]

    def read_rows(
        self, columns: Sequence[str], where: str | None = None, *, id_column: str | None = None
    ) -> tuple[pl.DataFrame, Rows]:
        """Read some columns, and say which rows of the file they are.

        The rows are named by their lines in the file (in the first of several files), or by
        the values of `id_column`.
        """
        names = list(dict.fromkeys(columns))
        source = printable(self.name)
        if not names:
            raise InputError(f"columns: name at least one column of {source}.")
        for name in names:
            known_column(name, self.columns, source)
        self._refuse_mixed(names)
        ids = [] if id_column is None else [known_column(id_column, self.columns, source)]
        events = [self.lifetimes[name][0] for name in names if name in self.lifetimes]
        dates = [name for name in self.columns if self._dates_rows(name)]
        wanted = list(dict.fromkeys([*names, *ids, *events, *dates, ROW]))
        frame = self._run(self._rows(where).select(named(wanted)), len(wanted))
        if frame.height == 0:
            raise InputError(f"no row of {source} satisfies the condition {where!r}.")
        rows = self.places.rows(frame[ROW].to_numpy().astype(np.int64))
        if id_column is not None:
            rows = Rows(rows.positions, frame[id_column].to_list(), id_column)
        orders = [TimeOrder.of(name, frame[name].to_list()) for name in dates]
        rows = replace(rows, time=first_in_order(orders))
        made = [self._lifetime(name, frame, rows) for name in names if name in self.lifetimes]
        return frame.with_columns(made).select(named(names)), rows

    def _dates_rows(self, name: str) -> bool:
        kind = self.columns[name]
        if name in self.refusals:
            return False
        is_number = kind in (ColumnType.NUMBER, ColumnType.INTEGER)
        return dates_rows(name, is_date=kind is ColumnType.DATE, is_number=is_number)

    def _lifetime(self, name: str, frame: pl.DataFrame, rows: Rows) -> pl.Series:
        """Put a column of times and its events together, one struct a row."""
        import polars as pl

        event, value = self.lifetimes[name]
        times, events, known = read_lifetimes(
            frame[name].to_list(),
            frame[event].to_list(),
            event_value=value,
            names=(name, event),
            way_out=lambda value: f"`survival='{name},{event}={value}'`.",
            rows=rows,
        )
        cells = [
            {"time": time, "event": ended} if is_known else None
            for time, ended, is_known in zip(
                times.tolist(), events.tolist(), known.tolist(), strict=True
            )
        ]
        return pl.Series(name, cells, dtype=pl.Struct({"time": pl.Float64, "event": pl.Boolean}))

    def cautions(self, columns: Sequence[str]) -> tuple[DataWarning, ...]:
        """Say what was understood about the file and some of its columns."""
        file = [f"{printable(self.name)}: {text}." for text in self.said]
        if self.join is not None and any(one.n_unmatched for one in self.join.files):
            file.append(f"{self.join}.")
        file += [f"{printable(self.name)}: {text}." for text in self._doubts_about_names(columns)]
        alike: dict[str, list[str]] = {}
        for name in columns:
            for text in self.column_said.get(name, ()):
                alike.setdefault(text, []).append(name)
        spoken = []
        for text, names in alike.items():
            noun = "column" if len(names) == 1 else "columns"
            shown = ", ".join(repr(name) for name in names[:_SHOWN])
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            spoken.append(f"{noun} {shown}{more} of {printable(self.name)}: {text}.")
        return (
            *(DataWarning(text) for text in [*file, *spoken]),
            *(self._may_be_censored(columns)),
        )

    def about_subjects(
        self, used: Sequence[str], where: str | None = None
    ) -> tuple[DependentRowsWarning, ...]:
        """Notice a column that names subjects, several rows of each."""
        name = subject_column(self.columns, used)
        if name is None or name in self.refusals:
            return ()
        return repeated_subjects(name, self.read([name], where)[name].to_list())

    def _doubts_about_names(self, columns: Sequence[str]) -> list[str]:
        """Say what the names of columns tell: genes down the rows, genes turned into dates."""
        said = []
        first = next(iter(self.columns), "")
        genes_in_rows = first not in columns and self.columns.get(first) in _WORDS
        if genes_in_rows and _NAMES_FEATURES.fullmatch(first):
            said.append(
                f"by its name, the first column {first!r} names what was measured in each row, but "
                "rows are taken as observations and columns as variables. If the samples are the "
                "columns, transpose the table first"
            )
        dates = [name for name in columns if _DATED_GENE.fullmatch(name)]
        if dates:
            shown = ", ".join(repr(name) for name in dates[:_SHOWN])
            said.append(
                f"names of columns look like dates ({shown}), which spreadsheets make of names of "
                "genes such as MARCH1 and SEPT2"
            )
        return said

    def _may_be_censored(self, columns: Sequence[str]) -> list[DataWarning]:
        """Caution about a time that is used without the column that tells how it ended."""
        cautions: list[DataWarning] = []
        for name in columns:
            if self.columns.get(name) not in (ColumnType.NUMBER, ColumnType.INTEGER):
                continue
            unused = (other for other in self.columns if other not in columns)
            cautions += censored(name, unused)
        return cautions

    def renamed(self, new: Mapping[str, str]) -> Table:
        """Return the table with new names for its columns."""
        return replace(
            self,
            frame=self.frame.rename(new),
            columns={new[name]: kind for name, kind in self.columns.items()},
            refusals={new[name]: why for name, why in self.refusals.items()},
            column_said={new[name]: why for name, why in self.column_said.items()},
        )

    def count_rows(self, where: str | None = None) -> int:
        """Count the rows, or those for which a condition holds."""
        import polars as pl

        count: int = self._run(self._rows(where).select(pl.len()), 1).item()
        return count

    def has_rows(self) -> bool:
        """Tell whether there is a row at all, without reading the table."""
        import polars as pl

        return bool(self._run(self.frame.head(1).select(pl.len()), 1).item())

    def is_wide(self) -> bool:
        """Tell whether there are so many columns that the table was read as a whole."""
        return len(self.columns) > WIDE

    def series(self) -> list[pl.Series]:
        """Read all columns, one by one."""
        return self._run(
            self.frame.select(named(list(self.columns))), len(self.columns)
        ).get_columns()

    def evaluate(self, expressions: Sequence[pl.Expr]) -> pl.DataFrame:
        """Evaluate polars expressions on the whole table, in one pass."""
        return self._run(self.frame.select(expressions), len(expressions))

    def _rows(self, where: str | None) -> pl.LazyFrame:
        """Return the table with the rows for which a condition holds."""
        if where is None:
            return self.frame
        where = composed(where)
        schema = self.frame.collect_schema()
        known = {name: dtype for name, dtype in schema.items() if name != ROW}
        expression = parse_condition(where, known, printable(self.name))
        self._refuse_mixed(expression.meta.root_names())
        check_types(expression, where, known)
        return self.frame.filter(expression)

    def _run(self, frame: pl.LazyFrame, n_expressions: int) -> pl.DataFrame:
        """Read, and say in plain words why a file could not be read."""
        try:
            return collect(frame, n_expressions=n_expressions)
        except reading_errors() as error:
            raise explain(error, self.name, self.texts) from error

    def _refuse_mixed(self, names: Sequence[str]) -> None:
        """Raise if columns hold numbers and words, for they would pass as categories."""
        refused = [name for name in names if name in self.refusals]
        if not refused:
            return
        texts = [
            f"column {name!r} {self._fault(name, self.refusals[name])}" for name in refused[:_SHOWN]
        ]
        more = f"; and {len(refused) - _SHOWN} more columns" if len(refused) > _SHOWN else ""
        raise InputError(
            f"{printable(self.name)}: {'; '.join(texts)}{more}. {self._ways_out(refused)}"
        )

    def _ways_out(self, refused: Sequence[str]) -> str:
        kinds = dict.fromkeys(self.refusals[name].kind for name in refused)
        ways = " ".join(WAYS_OUT[kind] for kind in kinds)
        return f"{ways} Or leave a column out with '!{printable(refused[0])}'."

    def _fault(self, name: str, refusal: Refusal) -> str:
        places = self.origins.get(name, self.places)
        cells = [
            cell(text) if record is None else f"{cell(text)} ({places.name(record)})"
            for text, record in refusal.cells
        ]
        return f"{refusal.reason}: {', '.join(cells)}"


def finished_table(
    name: str,
    cleaned: Cleaned,
    options: ReadingOptions,
    *,
    places: Places | None = None,
    texts: tuple[TextFile, ...] = (),
    said: tuple[str, ...] = (),
) -> Table:
    """Make a table of a frame whose words are understood: missing codes, NaN, labels."""
    frame = _without_codes(tidied(cleaned.frame), options)
    columns = typed_columns(frame.collect_schema(), cleaned.refusals)
    frame, columns, cycles = with_cycles(frame, columns, options)
    table = Table(
        name=name,
        frame=frame,
        columns=columns,
        refusals=cleaned.refusals,
        places=places or Places(),
        texts=texts,
        said=said,
        column_said={**cleaned.in_words(), **cycles},
    )
    names = {own: composed(own) for own in table.columns}
    if any(own != new for own, new in names.items()) and not repeated(names.values()):
        table = table.renamed(names)
    if options.categories is None:
        return table
    return with_categories(table, table.select(options.categories))


def with_cycles(
    frame: pl.LazyFrame, columns: Mapping[str, ColumnType], options: ReadingOptions
) -> tuple[pl.LazyFrame, dict[str, ColumnType], dict[str, list[str]]]:
    """Bring the dates to a circle for which the options ask for a place in a cycle."""
    import polars as pl

    kinds, said = dict(columns), {}
    schema = frame.collect_schema()
    made = []
    for name, kind in columns.items():
        rule = options.date_rule(name)
        if kind is not ColumnType.DATE or rule == "elapsed":
            continue
        lacking = pl.Date if rule == "hour" else pl.Time
        if schema[name] in (lacking, pl.Duration):
            raise InputError(
                f"column {name!r} has no {rule}: it holds values of the type {schema[name]}. Pass "
                "another value for `dates`."
            )
        made.append(cycle(column(name), rule, schema[name]).alias(name))
        kinds[name] = ColumnType.CYCLE
        span = {"hour": "day", "weekday": "week", "month": "year"}[rule]
        said[name] = [f"dates read as their place in the {span}, on a circle"]
    return frame.with_columns(made), kinds, said


def _without_codes(frame: pl.LazyFrame, options: ReadingOptions) -> pl.LazyFrame:
    """Make the values missing that the user says stand for missing ones."""
    if not options.na:
        return frame
    import polars as pl
    import polars.selectors as cs

    words = [str(code) for code in options.na]
    numbers = [number for number in map(_as_number, options.na) if number is not None]
    text = cs.string()
    frame = frame.with_columns(
        pl.when(text.str.strip_chars().is_in(words)).then(None).otherwise(text).name.keep()
    )
    if not numbers:
        return frame
    values = cs.numeric() - cs.by_name(ROW, require_all=False)
    return settled(
        frame.with_columns(
            pl.when(values.cast(pl.Float64).is_in(numbers)).then(None).otherwise(values).name.keep()
        )
    )


def with_lifetimes(table: Table, options: ReadingOptions) -> Table:
    """Return the table with columns of times that hold lifetimes, where the options say so."""
    columns, found = dict(table.columns), dict[str, tuple[str, str | None]]()
    for text in options.survival:
        *pair, value = parse_lifetime(text)
        time, event = (_single(table, text, str(expression)) for expression in pair)
        if time == event or {time, event} & {*found, *(one for one, _ in found.values())}:
            raise InputError(
                f"`survival={text!r}` names a column twice; give each lifetime two columns."
            )
        found[time] = (event, value)
        columns[time] = ColumnType.LIFETIME
        del columns[event]
    return replace(table, columns=columns, lifetimes=found)


def _single(table: Table, text: str, expression: str) -> str:
    columns = table.select(expression)
    if len(columns) > 1:
        raise InputError(
            f"`survival={text!r}` names {len(columns)} columns with {expression!r}; give one."
        )
    return columns[0]


def _as_number(code: str | float) -> float | None:
    try:
        return float(code)
    except (ValueError, OverflowError):
        return None


def with_categories(table: Table, labels: Sequence[str]) -> Table:
    """Return the table with some columns as labels, whatever they look like."""
    import polars as pl

    words = table.frame.with_columns(
        column(name).cast(pl.String).cast(pl.Categorical) for name in labels
    )
    return replace(
        table,
        frame=words,
        columns={**table.columns, **dict.fromkeys(labels, ColumnType.CATEGORY)},
        refusals={name: why for name, why in table.refusals.items() if name not in labels},
        column_said={name: why for name, why in table.column_said.items() if name not in labels},
    )
