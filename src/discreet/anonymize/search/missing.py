"""k-anonymity where a missing value could be anything: rows hide among all that they could be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.anonymize.costs.cost import CostModel
from discreet.anonymize.groups import Groups, packed
from discreet.anonymize.hierarchy.column_levels import ColumnLevels
from discreet.anonymize.search.classes import ClassTable
from discreet.anonymize.search.evaluate import Evaluator, Judged
from discreet.core.arrays import Bits, Integers
from discreet.errors import InvalidInput

_MOST_PATTERNS = 64


class MatchingEvaluator(Evaluator):
    """Looks at nodes where two rows match if each column is equal or missing in one of them.

    Matching is not transitive, so a row is counted by itself: it stays if at least k rows that
    stay match it. The largest set of rows for which that holds is kept.
    """

    def __init__(
        self,
        groups: Groups,
        ladders: Sequence[ColumnLevels],
        k: int,
        cost: CostModel,
        *,
        limit: int,
    ) -> None:
        _check_labels(groups, ladders)
        # Whatever is kept is kept at every coarser node too.
        super().__init__(groups, ladders, k, cost, limit=limit, monotone=True)
        self._absent = [
            values.index(None) if None in values else len(values) for values in groups.values
        ]

    def _judge(self, table: ClassTable) -> Judged:
        columns, sizes, blank = self._labels(table)
        kept = np.ones(table.size, dtype=bool)
        while True:
            rows = np.where(kept, table.rows, 0)
            among = matching_rows(columns, sizes, blank, rows)
            still = kept & (among >= self._smallest)
            if bool((still == kept).all()):
                return Judged(kept, np.where(kept, among, 0), 0, table.size)
            kept = still

    def _labels(self, table: ClassTable) -> tuple[list[Integers], list[int], list[Bits]]:
        columns, sizes, blank = [], [], []
        for place, level in enumerate(table.levels):
            rung = self._ladders[place].rungs[level]
            if rung.size > 1:  # a column that says nothing matches anyway
                columns.append(rung.codes[table.codes[place]])
                sizes.append(rung.size)
                blank.append(table.codes[place] == self._absent[place])
        return columns, sizes, blank


def matching_rows(
    columns: Sequence[Integers], sizes: Sequence[int], blank: Sequence[Bits], rows: Integers
) -> Integers:
    """Return for each class the rows that match it: equal, or missing in one, in each column.

    Goes by pairs of patterns of missing cells.
    """
    pattern = np.zeros(len(rows), dtype=np.int64)
    if blank:
        pattern = packed([mark.astype(np.int64) for mark in blank], [2] * len(blank))[0]
    kinds = [np.flatnonzero(pattern == kind) for kind in np.unique(pattern)]
    if len(kinds) > _MOST_PATTERNS:
        raise InvalidInput(
            "Values are missing in too many different combinations of columns to match them all.",
            hint="Let missing be a value of its own, or use fewer quasi-identifiers.",
        )
    found = np.zeros(len(rows), dtype=np.int64)
    for mine in kinds:
        for theirs in kinds:
            shown = [
                place
                for place, mark in enumerate(blank)
                if not mark[mine[0]] and not mark[theirs[0]]
            ]
            both = np.concatenate([mine, theirs])
            if shown:
                key, _ = packed(
                    [columns[place][both] for place in shown], [sizes[place] for place in shown]
                )
            else:
                key = np.zeros(len(both), dtype=np.int64)
            _, number = np.unique(key, return_inverse=True)
            sums = np.bincount(
                number[len(mine) :], weights=rows[theirs], minlength=int(number.max()) + 1
            )
            found[mine] += sums[number[: len(mine)]].astype(np.int64)
    return found


def _check_labels(groups: Groups, ladders: Sequence[ColumnLevels]) -> None:
    """Refuse hierarchies that turn missing values into something, except at a level of one label."""
    for values, ladder in zip(groups.values, ladders, strict=True):
        if None not in values:
            continue
        absent = values.index(None)
        for rung in ladder.rungs:
            if rung.size > 1 and np.count_nonzero(rung.codes == rung.codes[absent]) > 1:
                raise InvalidInput(
                    f"The hierarchy of '{ladder.column}' gives missing values a label that others "
                    "have too, so they cannot match everything.",
                    hint="Leave out the line of the empty value, or let missing be a value.",
                )
