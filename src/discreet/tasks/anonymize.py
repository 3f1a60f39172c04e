"""`discreet.anonymize(FILE, k=5, quasi=[...])`: a k-anonymous copy, recorded, then written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.anonymize.command import WrittenCopy, anonymize_file
from discreet.anonymize.request import AnonymizeRequest
from discreet.anonymize.search.cheapest import Progress, silent
from discreet.api import open as open_curator
from discreet.ledger.ledger import Ledger


def anonymize(
    source: str | Path,
    *,
    k: int | None = None,
    quasi: Sequence[str] = (),
    where: str | None = None,
    out: str | Path | None = None,
    report: str | Path | None = None,
    config: str | Path | None = None,
    progress: Progress = silent,
    **more: Any,
) -> WrittenCopy:
    """Return a k-anonymous copy of a file or table, recorded in its ledger and then written.

    `more` are the other options of `discreet anonymize`: sensitive, l, t, hierarchies, suppress ...

    Guarantee: none; the dataset stays marked. (docs/anonymize.md)
    """
    return anonymize_file(
        str(source),
        AnonymizeRequest.of(k=k, quasi=tuple(quasi), **more),
        remember=_ledger_of,
        where=where,
        out=None if out is None else Path(out),
        report=None if report is None else Path(report),
        config=None if config is None else Path(config),
        progress=progress,
    )


@contextmanager
def _ledger_of(place: Path) -> Iterator[Ledger]:
    with open_curator(place) as curator:
        yield curator.ledger
