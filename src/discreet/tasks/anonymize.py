"""`discreet.anonymize(FILE, k=5, quasi=[...])`: a k-anonymous copy, recorded, then written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.anonymize.command import WrittenCopy, anonymize_file
from discreet.anonymize.registry import cost_choices as costs
from discreet.anonymize.registry import model_choices as models
from discreet.anonymize.run import AnonymizeRequest
from discreet.base.requests.fields import WithProgress, asks_function, beside, given, schema
from discreet.base.requests.unpaid import LocalAnonymizeFields
from discreet.curator import open as open_curator
from discreet.privacy.ledger.ledger import Ledger


@schema
class AnonymizeFileCall(WithProgress, LocalAnonymizeFields):
    """An anonymized copy of a file or a declared table, and where it goes."""

    source: str | Path = beside("A file, or a declared table.", kw_only=False)
    out: str | Path | None = beside("Where to write: .csv or .parquet.", default=None)
    report: str | Path | None = beside("Also write why, and what remains.", default=None)
    config: str | Path | None = beside("The discreet.toml, if not beside the file.", default=None)


@asks_function(AnonymizeFileCall, costs() | models())
def anonymize(asked: AnonymizeFileCall) -> WrittenCopy:
    """Return a k-anonymous copy of a file or table, recorded in its ledger and then written.

    Guarantee: none; the dataset stays marked. (docs/anonymize.md)
    """
    return anonymize_file(
        str(asked.source),
        AnonymizeRequest.of(**given(asked)),
        remember=_ledger_of,
        where=asked.where,
        out=None if asked.out is None else Path(asked.out),
        report=None if asked.report is None else Path(asked.report),
        config=None if asked.config is None else Path(asked.config),
        progress=asked.progress,
    )


@contextmanager
def _ledger_of(place: Path) -> Iterator[Ledger]:
    with open_curator(place) as curator:
        yield curator.ledger
