"""The rows of the copy: every quasi-identifier replaced by its label, suppressed rows left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.anonymize.classes import SUPPRESSED, Recoding
from discreet.anonymize.groups import CellValue, Groups, numbers_of, packed
from discreet.anonymize.lattice import matching_rows
from discreet.anonymize.source import AnonymizeSource
from discreet.core.arrays import Integers
from discreet.errors import InternalError


def fetch(source: AnonymizeSource, columns: Sequence[str]) -> pa.Table:
    """Return these columns of all rows."""
    cells = ", ".join(source.cell(name) for name in columns)
    return source.run(f"SELECT {cells} FROM {source.relation}")


def recoded(
    rows: pa.Table, groups: Groups, recoding: Recoding, *, untouched: Collection[str] = ()
) -> pa.Table:
    """Return the copy: sorted by its own values, so the order of the original does not show.

    Columns in `untouched` keep their types, and their values up to spelling: what was counted as one
    value (0.0 and -0.0, NaN and NULL) is written as one.
    """
    klass = recoding.klass[entries(rows, groups, recoding)]
    stays = klass != SUPPRESSED
    rest, klass = rows.filter(pa.array(stays)), klass[stays]
    found = {}
    for name in rows.column_names:
        if name not in groups.quasi:
            found[name] = rest.column(name)
            continue
        place = groups.quasi.index(name)
        if name in untouched:
            codes = _codes(rest.column(name), groups.values[place])
            _, first, value = np.unique(codes, return_index=True, return_inverse=True)
            found[name] = rest.column(name).take(pa.array(first[value]))
            continue
        # The empty text stands for a missing value.
        words = pa.array([text or None for text in recoding.labels[place].texts], pa.string())
        cells = pa.array(recoding.cells[place][klass])
        found[name] = pa.chunked_array([words.take(cells)])
    copy = pa.table(found)
    order = [(name, "ascending") for name in _sortable(copy, groups.quasi)]
    return copy.take(pc.sort_indices(copy, sort_keys=order)) if order else copy


def smallest_class(copy: pa.Table, quasi: Sequence[str], *, matching: bool = False) -> int:
    """Return how many rows look like the row that fewest look like, itself among them.

    Cells are compared as they stand in the copy: spellings that a search takes for one value are two
    here. `matching`: a missing cell looks like any other.
    """
    spelled = [copy[name].combine_chunks().dictionary_encode("encode") for name in quasi]
    columns = [numbers_of(each.indices) for each in spelled]
    sizes = [len(each.dictionary) for each in spelled]
    key, _ = packed(columns, sizes)
    _, first, rows = np.unique(key, return_index=True, return_counts=True)
    if matching:
        blank = [np.asarray(copy[name].is_null().combine_chunks())[first] for name in quasi]
        rows = matching_rows([codes[first] for codes in columns], sizes, blank, rows)
    return int(rows.min())


def _sortable(copy: pa.Table, first: Sequence[str]) -> list[str]:
    names = [*first, *(name for name in copy.column_names if name not in first)]
    return [name for name in names if not pa.types.is_nested(copy.schema.field(name).type)]


def entries(rows: pa.Table, groups: Groups, recoding: Recoding) -> Integers:
    """Return the entry of the recoding that each row belongs to.

    An entry takes so many rows of a combination (and of a sensitive value, where classes were
    balanced by it). With rows and entries in the same order, running sums say which takes which.
    """
    place = combinations(rows, groups)
    wanted = np.zeros(len(place), dtype=np.int64)
    sensitive = groups.sensitive
    if sensitive is not None and (recoding.sensitive >= 0).any():
        wanted = _codes(rows.column(sensitive.column), sensitive.values)
    by_row = np.lexsort((wanted, place))
    by_entry = np.lexsort((recoding.sensitive, recoding.combination))
    sums = np.cumsum(recoding.rows[by_entry])
    if not len(sums) or int(sums[-1]) != len(place):
        raise InternalError("the recoding is for another number of rows; did the table change?")
    found = np.empty(len(place), dtype=np.int64)
    found[by_row] = by_entry[np.searchsorted(sums, np.arange(len(place)), side="right")]
    if not np.array_equal(recoding.combination[found], place):
        raise InternalError("a row fell into a foreign entry of the recoding")
    return found


def combinations(rows: pa.Table, groups: Groups) -> Integers:
    """Return the combination of each row, as an index into `groups`."""
    codes = [
        np.concatenate([groups.codes[j], _codes(rows.column(name), groups.values[j])])
        for j, name in enumerate(groups.quasi)
    ]
    # Packed together: keys of one packing cannot be compared with those of another.
    key, _ = packed(codes, [len(values) for values in groups.values])
    known, wanted = key[: groups.combinations], key[groups.combinations :]
    order = np.argsort(known)
    found = np.minimum(np.searchsorted(known[order], wanted), groups.combinations - 1)
    place = order[found]
    if not np.array_equal(known[place], wanted):
        raise InternalError("a row has a combination that was not counted; did the table change?")
    return place.astype(np.int64)


def _codes(column: pa.ChunkedArray, values: Sequence[CellValue]) -> Integers:
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    known = pa.array(values, type=column.type)
    found = pc.index_in(column, value_set=known)
    if found.null_count and pa.types.is_floating(column.type):
        # GROUP BY may give one zero for both; to Arrow 0.0 and -0.0 are two values.
        other = pc.if_else(pc.equal(column, 0.0), pc.negate(column), column)
        found = pc.coalesce(found, pc.index_in(other, value_set=known))
    if found.null_count:
        raise InternalError("a row has a value that was not counted; did the table change?")
    return np.asarray(found.to_numpy(), dtype=np.int64)
