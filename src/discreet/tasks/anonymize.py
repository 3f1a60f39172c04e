"""`discreet.anonymize(FILE, k=5, quasi=[...])`: a k-anonymous copy, recorded, then written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.anonymize.command import WrittenCopy, anonymize_file
from discreet.anonymize.request import AnonymizeRequest
from discreet.api import open as open_curator
from discreet.core.progress import Progress, silent
from discreet.ledger.ledger import Ledger


def anonymize(
    source: str | Path,
    *,
    k: int | None = None,
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    l: float | None = None,  # noqa: E741  # the model's own name
    diversity: str = "distinct",
    c: float = 3.0,
    t: float | None = None,
    distance: str = "equal",
    hierarchies: Path | None = None,
    suppress: float = 0.0,
    cost: str = "discernibility",
    method: str = "optimal",
    redact: Sequence[str] = (),
    where: str | None = None,
    weights: str | Mapping[str, float] = "",
    missing: str = "value",
    seconds: float = 60.0,
    population: int | None = None,
    out: str | Path | None = None,
    report: str | Path | None = None,
    config: str | Path | None = None,
    progress: Progress = silent,
) -> WrittenCopy:
    """Return a k-anonymous copy of a file or table, recorded in its ledger and then written.

    The other arguments are the options of `discreet anonymize`.

    Guarantee: none; the dataset stays marked. (docs/anonymize.md)
    """
    request = AnonymizeRequest.of(
        k=k,
        quasi=tuple(quasi),
        sensitive=sensitive,
        l=l,
        diversity=diversity,
        c=c,
        t=t,
        distance=distance,
        hierarchies=hierarchies,
        suppress=suppress,
        cost=cost,
        method=method,
        redact=redact,
        weights=weights,
        missing=missing,
        seconds=seconds,
        population=population,
    )
    return anonymize_file(
        str(source),
        request,
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
