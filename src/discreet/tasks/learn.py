"""`discreet.learn(FILE, target=...)`: a classifier trained on a file or a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.api import open as open_curator
from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.progress import Progress, silent
from discreet.learn.prepare import needed_columns
from discreet.learn.request import LearnRequest
from discreet.learn.run import Trained
from discreet.tasks.bare.bare_place import typed_place


def learn(
    source: str | Path,
    *,
    target: str,
    epsilon: Number | Epsilon,
    delta: Number | Delta | None = None,
    model: str = "auto",
    features: Sequence[str] = (),
    choose: Sequence[str] = (),
    rows: int | None = None,
    analyst: str | None = None,
    request_id: str | None = None,
    config: str | Path | None = None,
    unit: str = "row",
    accept: bool = False,
    progress: Progress = silent,
) -> Trained:
    """Return a classifier of `target` trained on a file or a declared table, charged before any row is read.

    A bare file is declared first, in the discreet.toml of `config` or beside the file; of a text file
    the types are paid for, too. `unit` says whom it protects, `accept` declares what its rows hold
    public. The rest goes to `Curator.learn`.

    >>> discreet.learn("people.csv", target="income", epsilon=1)            # doctest: +SKIP
    classifier   boosted for income, accuracy 0.843
    uses         epsilon 1; leaves 0 of 1
    """
    asked: dict[str, Any] = {
        "target": target,
        "epsilon": epsilon,
        "delta": delta,
        "model": model,
        "features": features,
        "choose": choose,
        "rows": rows,
        "analyst": analyst,
        "request_id": request_id,
    }
    LearnRequest.of("", **asked)  # a mistake is refused before a discreet.toml is written for it
    place = None if config is None else Path(config)
    typed = typed_place(str(source), place, asked, accept=accept, unit=unit, foresee=_check)
    with typed as (found, table, given), open_curator(found) as curator:
        return curator.learn(table, progress=progress, **given)


def _check(config: Path, table: str, asked: dict[str, Any]) -> None:
    """Refuse a training that would be refused, before the types of a bare file are paid for."""
    with open_curator(config) as curator:
        needed_columns(LearnRequest.of(table, **asked), curator)
