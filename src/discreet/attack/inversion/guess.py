"""Fredrikson's guess: the secret under which the known dose is likeliest, weighed by how common it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.attack.inversion.dose_model import DoseModel
from discreet.attack.inversion.patients import ROOT
from discreet.core.arrays import Bits, Floats, Integers

_SOFT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class HiddenValueRates:
    """How common each combination of hidden values is, for each value of a known column.

    Learned from patients who are in no training: what anybody can read in a journal.
    """

    columns: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]
    groups: Mapping[str, Floats]
    overall: Floats
    known: str

    @classmethod
    def of(cls, rows: pa.Table, hidden: Sequence[str], known: str) -> HiddenValueRates:
        """Return the shares among these patients."""
        texts = [_words(rows[name]) for name in hidden]
        combinations = tuple(product(*(sorted(set(text.tolist())) for text in texts)))
        place = {each: i for i, each in enumerate(combinations)}
        codes = np.array([place[each] for each in zip(*(t.tolist() for t in texts), strict=True)])
        group = _words(rows[known]) if known else np.full(rows.num_rows, "", dtype=object)

        def shares(keep: Bits) -> Floats:
            counts = np.bincount(codes[keep], minlength=len(combinations)) + _SOFT
            return np.asarray(counts / counts.sum())

        groups = {name: shares(group == name) for name in sorted(set(group.tolist()))}
        every = shares(np.ones(len(codes), dtype=np.bool_))
        return cls(tuple(hidden), combinations, groups, every, known)

    def of_people(self, rows: pa.Table) -> Floats:
        """Return the shares that each patient's known column gives, a row for each."""
        if not self.known:
            return np.tile(self.overall, (rows.num_rows, 1))
        return np.stack(
            [self.groups.get(word, self.overall) for word in _words(rows[self.known]).tolist()]
        )

    def secrets(self) -> tuple[tuple[str, ...], Integers]:
        """Return the values of the first hidden column, and which of them each combination has."""
        values = tuple(dict.fromkeys(each[0] for each in self.combinations))
        return values, np.array([values.index(each[0]) for each in self.combinations])


def without_model(common: HiddenValueRates, rows: pa.Table) -> Bits:
    """Return who is guessed right from common knowledge alone: the baseline."""
    return _right(common, rows, common.of_people(rows))


def inverted(model: DoseModel, error: float, common: HiddenValueRates, rows: pa.Table) -> Bits:
    """Return whose secret is guessed right from the model, the stable dose and common knowledge.

    `error` is the spread of the model's residuals, published with it: a model that is mostly noise has
    a large one, and then common knowledge decides.
    """
    truth = rows[ROOT].to_numpy()
    logs = np.log(common.of_people(rows))
    roots = model.under(rows, common.columns, common.combinations)
    logs -= 0.5 * ((truth[:, None] - roots) / error) ** 2
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return _right(common, rows, weights)


def _right(common: HiddenValueRates, rows: pa.Table, weights: Floats) -> Bits:
    values, which = common.secrets()
    beliefs = np.stack([weights[:, which == i].sum(axis=1) for i in range(len(values))], axis=1)
    guesses = np.array(values, dtype=object)[beliefs.argmax(axis=1)]
    return np.asarray(guesses == _words(rows[common.columns[0]]))


def _words(column: pa.ChunkedArray) -> npt.NDArray[np.object_]:
    return np.asarray(column.cast(pa.string()).to_numpy(zero_copy_only=False), dtype=object)
