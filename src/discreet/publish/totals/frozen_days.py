"""The exact counts of days that were looked at, kept so that rows which arrive late are not counted.

Private: they lie in the state folder beside the snapshots, readable by the owner of the process alone,
and nothing but the measuring of the same series reads them.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np

from discreet.core.machine.whole_file import write_whole
from discreet.publish.totals.factor import Integers

FOLDER = "totals"


class FrozenDays:
    """What one series counted on the days that are over.

    Guarantee: none is needed. A row enters each measurement with the weight of its day or not at all,
        whether the counts were kept, lost or never there: that is what was paid for.
    """

    def __init__(self, state: Path, series: str) -> None:
        self._path = state / FOLDER / f"{series}.private"

    def applied(self, counts: Integers) -> Integers:
        """Return the counts with those of earlier looks in place of today's."""
        kept = self._read()
        found = counts.copy()
        found[: len(kept)] = kept[: len(found)]
        return found

    def keep(self, counts: Integers) -> None:
        """Keep the counts of all days that were looked at: whole, or not at all."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._path, json.dumps(counts.tolist()), durable=True)

    def _read(self) -> Integers:
        with suppress(OSError, ValueError, TypeError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            return np.array(found, dtype=np.int64).reshape(-1)
        return np.zeros(0, dtype=np.int64)
