"""How a copy is written as CSV: decimals as declared, separator and quotes as in its source."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.core.schema import NumberDomain, Table
from discreet.engine.files import FileKind, delimiter, find_files, is_open, quoted_names
from discreet.errors import DiscreetError
from discreet.report.csv_text import CsvStyle
from discreet.synth.encoding.columns import Coded, MadeUpIdentifier

MOST_DECIMALS = 12


def decimals_of(columns: Sequence[Coded | MadeUpIdentifier]) -> dict[str, int]:
    """Return how many digits follow the point in each column of numbers, by its step."""
    found = {}
    for column in columns:
        if isinstance(column, Coded) and isinstance(column.domain, NumberDomain):
            digits = _digits(column.domain.step)
            if digits is not None:
                found[column.name] = digits
    return found


def _digits(step: Fraction) -> int | None:
    """Return how many decimals the multiples of a step have, None where they never end.

    >>> _digits(Fraction(1, 4)), _digits(Fraction(5)), _digits(Fraction(1, 3))
    (2, 0, None)
    """
    return next((d for d in range(MOST_DECIMALS + 1) if (step * 10**d).denominator == 1), None)


def source_style(catalog: Catalog, table: Table) -> dict[str, Any]:
    """Return how the source of a table separates and quotes, where it is a CSV file.

    Guarantee: reads the first line alone, which names the columns and is public; of several files none,
        since which is the first may depend on a person.
    """
    if is_open(table.source, catalog.base):
        return {}
    try:
        files = find_files(table.name, table.source, catalog.base, table.encoding)
        if files.kind is not FileKind.CSV:
            return {}
        first = files.paths[0]
        quoted = quoted_names(first, files.encoding, files.part)
        return CsvStyle(delimiter(first, files.encoding, files.part), quoted).to_json()
    except (DiscreetError, OSError, ValueError):
        return {}  # a table on a server, or a file in another form
