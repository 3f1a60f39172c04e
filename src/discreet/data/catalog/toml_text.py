"""The text of discreet.toml: values, sections in one form each, and a whole file as `discreet init` proposes it.

A few kinds of values are enough, quoted so that they read back. A proposal becomes text with comments for the owner
who reviews it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

from discreet.base.numbers import Delta, Epsilon
from discreet.errors import InvalidInput

ENGINE, LEDGER = "duckdb:", "sqlite:ledger.db"
"""Files are read by an engine of our own, and what was spent is remembered beside discreet.toml."""

Setting: TypeAlias = (
    bool
    | int
    | Decimal
    | str
    | dt.date
    | dt.datetime
    | tuple[str, ...]
    | Mapping[str, tuple[str, ...]]
)


@dataclass(frozen=True, slots=True)
class ColumnProposal:
    """One column: its settings as they will be written, and what the owner should know.

    `missing` is the share of the rows without a value; None where the column was not read.
    """

    name: str
    settings: Mapping[str, Setting]
    seen: tuple[str, ...] = ()
    missing: float | None = None

    @property
    def type(self) -> str:
        """Return the proposed type."""
        return str(self.settings["type"])


@dataclass(frozen=True, slots=True)
class TableProposal:
    """One table. `unit` is None until the owner says it; `suggested_rows` was seen in the data.

    `warnings` are about whom the table would protect.
    """

    name: str
    source: str
    columns: tuple[ColumnProposal, ...]
    unit: str | None = None
    max_rows: int | None = None
    suggested_rows: int | None = None
    seen: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A whole discreet.toml to be. `epsilon` is None until the owner says it."""

    dataset: str
    tables: tuple[TableProposal, ...]
    engine_url: str = ENGINE
    ledger_url: str = LEDGER
    epsilon: Epsilon | None = None
    delta: Delta | None = None
    accepted: bool = False


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSAFE = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]')
TomlValue: TypeAlias = Setting | Fraction | Mapping[str, "TomlValue"]
"""What can be written: a setting, an exact amount, or a table of such in one line."""
WrittenTable: TypeAlias = Mapping[str, TomlValue]
LINE = 96
MAX_DIGITS = 60


def key(name: str) -> str:
    """Return `name` as a key: bare where TOML allows it, quoted otherwise."""
    return name if _BARE_KEY.fullmatch(name) else text(name)


def text(value: str) -> str:
    """Return `value` as a basic string; everything that does not print is escaped."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "A name or value contains half a character (a lone surrogate)."
        ) from None
    return '"' + _UNSAFE.sub(_escaped, value) + '"'


def _escaped(match: re.Match[str]) -> str:
    letter = match[0]
    return _ESCAPES.get(letter) or f"\\u{ord(letter):04X}"


def number(value: Decimal | Fraction) -> str:
    """Return a decimal number that reads back exactly; a fraction must be a finite decimal."""
    exact = _finite_decimal(value) if isinstance(value, Fraction) else value
    if not -12 < exact.adjusted() < 18:
        return str(exact)
    whole, _, part = format(exact, "f").partition(".")
    return f"{whole}.{part.rstrip('0') or '0'}"


def _finite_decimal(value: Fraction) -> Decimal:
    with localcontext(prec=MAX_DIGITS):
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        if Fraction(exact) != value:
            raise InvalidInput(f"{value} has no short decimal form; write it as a decimal.")
        return exact.normalize()


def value(setting: TomlValue) -> str:
    """Return one setting as TOML."""
    if isinstance(setting, bool):
        return "true" if setting else "false"
    if isinstance(setting, int):
        return str(setting)
    if isinstance(setting, Decimal | Fraction):
        return number(setting)
    if isinstance(setting, str):
        return text(setting)
    if isinstance(setting, tuple):
        return _array([text(item) for item in setting])
    if isinstance(setting, Mapping):
        return inline_table(setting)
    return setting.isoformat()  # a local date or date-time of TOML


def _array(items: list[str]) -> str:
    joined = ", ".join(items)
    if len(joined) <= LINE - 30:
        return f"[{joined}]"
    lines, current = [], ""
    for item in items:
        if current and len(current) + len(item) + 2 > LINE - 4:
            lines.append(current)
            current = ""
        current += f"{item}, "
    lines.append(current)
    return "[\n" + "".join(f"    {line.rstrip()}\n" for line in lines) + "]"


def inline_table(settings: WrittenTable) -> str:
    """Return `{ type = "integer", lower = 0 }`."""
    pairs = ", ".join(f"{key(name)} = {value(setting)}" for name, setting in settings.items())
    return f"{{ {pairs} }}"


def comment(words: str) -> list[str]:
    """Return comment lines; whatever would end a line or not print becomes a space."""
    clean = "".join(letter if letter.isprintable() else " " for letter in words)
    lines, current = [], "#"
    for word in clean.split():
        if len(current) + len(word) >= LINE and current != "#":
            lines.append(current)
            current = "#"
        current += f" {word}"
    return [*lines, current]


def composed(*parts: Iterable[str]) -> str:
    """Return the text of a file with these parts, a blank line between them."""
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def heading(*path: str) -> str:
    """Return the line that begins a section.

    >>> heading("datasets", "my shop")
    '[datasets."my shop"]'
    """
    return f"[{'.'.join(key(part) for part in path)}]"


def setting(name: str, content: TomlValue, note: str = "") -> str:
    """Return the line, or the lines, of one setting, with a note behind it.

    >>> setting("accepted", True, "unseen")
    'accepted = true  # unseen'
    """
    said = f"{key(name)} = {value(content)}"
    return f"{said}  # {note}" if note else said


def settings_lines(settings: Mapping[str, TomlValue | None]) -> list[str]:
    """Return the lines of settings; what is None is left out."""
    return [setting(name, value) for name, value in settings.items() if value is not None]


def engine_and_ledger(engine: str = ENGINE, ledger: str = LEDGER) -> list[str]:
    """Return [engine] and [ledger], with which every file begins."""
    return [
        heading("engine"),
        setting("url", engine),
        "",
        heading("ledger"),
        setting("url", ledger),
    ]


def dataset_lines(name: str, settings: Mapping[str, TomlValue | None]) -> list[str]:
    """Return the section of a dataset: its budget, neighbours and what else holds for all its tables."""
    return [heading("datasets", name), *settings_lines(settings)]


def table_lines(
    dataset: str,
    table: str,
    settings: Mapping[str, TomlValue | None],
    columns: Mapping[str, WrittenTable],
) -> list[str]:
    """Return the sections of a table: its source and unit, and a line for each column."""
    return [
        heading("datasets", dataset, "tables", table),
        *settings_lines(settings),
        "",
        *columns_lines(dataset, table, columns),
    ]


def columns_lines(dataset: str, table: str, columns: Mapping[str, WrittenTable]) -> list[str]:
    """Return the section of a table's columns."""
    return [heading("datasets", dataset, "tables", table, "columns"), *settings_lines(columns)]


def analyst_lines(name: str, shares: Mapping[str, WrittenTable]) -> list[str]:
    """Return the section of an analyst: a share of each dataset."""
    return [heading("analysts", name), setting("datasets", shares)]


HEAD = (
    "Proposed by 'discreet init' for the owner of the data to review.",
    (
        "Whatever stands below was read from private data: the lists, the bounds and these comments. "
        "Keep the file to yourself until you have replaced what is not public knowledge."
    ),
    (
        "A column marked 'review = true' cannot be asked about. Check its domain against public "
        "knowledge (a code book, a law, common sense), correct it, and remove the mark."
    ),
)

ACCEPTED = (
    (
        "Written by 'discreet init --accept'. The domains below were read from the data, and the "
        "owner has declared them public without a review. Every answer says so."
    ),
)


def render_toml(proposal: Proposal) -> str:
    """Return the text of the file; reading it back gives the same settings."""
    words = ACCEPTED if proposal.accepted else HEAD
    return composed(
        [line for each in words for line in comment(each)],
        engine_and_ledger(proposal.engine_url, proposal.ledger_url),
        _dataset(proposal),
        *(_table(proposal, table) for table in proposal.tables),
    )


def _dataset(proposal: Proposal) -> Iterable[str]:
    yield heading("datasets", proposal.dataset)
    if proposal.accepted:
        yield setting("accepted", True, "the domains below were declared public unseen")
    if proposal.epsilon is None:
        yield from comment(
            "REQUIRED: the most that any one person can lose over all answers ever given. Nothing "
            "can be asked before you choose it; 1 is strong, 10 is weak."
        )
        yield "# epsilon = 1.0"
    else:
        yield setting("epsilon", proposal.epsilon.value)
    if proposal.delta is None:
        yield from comment(
            "Optional: a chance of failure far below one in the number of people, for Gaussian "
            "noise and for groups whose names are private. Without it the promise is absolute."
        )
        yield "# delta = 1e-9"
    else:
        yield setting("delta", proposal.delta.value)
    note = 'or "replace-one", if the number of rows is public'
    yield setting("neighbours", "add-remove", note)


def _table(proposal: Proposal, table: TableProposal) -> Iterable[str]:
    yield heading("datasets", proposal.dataset, "tables", table.name)
    for words in table.seen:
        yield from comment(words)
    yield setting("source", table.source)
    if table.encoding is not None:
        yield setting("encoding", table.encoding, "guessed: check names with odd letters")
    if table.unit is None:
        yield from comment(
            'REQUIRED: whom to protect. "row" if every row is another person; otherwise the '
            "column that says whose row it is. Nothing can be asked before you choose it."
        )
        yield '# unit = "row"'
    else:
        yield setting("unit", table.unit)
    yield from _max_rows(table)
    yield ""
    yield from columns_lines(proposal.dataset, table.name, {})
    for column in table.columns:
        yield from _column(column)


def _max_rows(table: TableProposal) -> Iterable[str]:
    if table.max_rows is not None:
        yield setting(
            "max_rows", table.max_rows, "how many rows of one person count, unless a query says"
        )
    elif table.suggested_rows is not None:
        yield from comment(
            "How many rows of one person count at most, unless a query asks for another number: more rows, more noise. The number here was "
            "read from the data; choose one that is public knowledge."
        )
        yield f"# max_rows = {table.suggested_rows}"


def _column(column: ColumnProposal) -> Iterable[str]:
    for words in column.seen:
        yield from comment(words)
    yield setting(column.name, column.settings)
