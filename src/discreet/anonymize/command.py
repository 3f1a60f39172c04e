"""`discreet anonymize` behind its options: run, record the exposure, then write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from discreet.anonymize.release import ExposureLog, release
from discreet.anonymize.report import document, made_words, measured_words
from discreet.anonymize.risk import MeasuredTable, measure
from discreet.anonymize.run import Anonymized, AnonymizeRequest
from discreet.anonymize.source import AnonymizeSource, is_file, open_source
from discreet.base.display import Progress, ShownInLines, ShownLines, silent
from discreet.data.catalog.bare_file import recorded_table
from discreet.data.catalog.policy_file import FILE_NAME, load
from discreet.data.engines.files import delimiter
from discreet.errors import InvalidInput
from discreet.privacy.ledger.ledger import Ledger
from discreet.show import write as write_report
from discreet.show.document import REPORT_FILES, check_target
from discreet.show.rows import ROW_FILES, write_rows

Remember: TypeAlias = Callable[[Path], AbstractContextManager[Ledger]]
"""Lends the ledger of a discreet.toml."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WrittenCopy(ShownInLines):
    """What was made, and where it was written."""

    made: Anonymized
    out: Path
    report: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        said = self.made.to_json() | {"out": str(self.out)}
        return said if self.report is None else said | {"report": str(self.report)}

    def words(self) -> list[str]:
        """Return what the terminal shows."""
        report = None if self.report is None else str(self.report)
        return made_words(self.made, str(self.out), report)

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return [*self.made.lines(), ("written to", str(self.out))]


def anonymize_file(
    written: str,
    request: AnonymizeRequest,
    *,
    remember: Remember,
    where: str | None = None,
    out: Path | None = None,
    report: Path | None = None,
    config: Path | None = None,
    progress: Progress = silent,
) -> WrittenCopy:
    """Return what was made of a file or table: recorded in its ledger, then written, in that order.

    A bare file uses the discreet.toml and ledger beside it; they are created if they are not there.
    """
    target = _target(written, out)
    if report is not None:
        check_target(report, REPORT_FILES, apart=[target, written])
    with open_source(written, config=config, where=where, keep=True) as source:
        made = release(
            source, request, lambda: _memory(written, config, source, remember), progress=progress
        )
    progress(0, 1, "writing")
    write_rows(made.table, target, delimiter=_delimiter(written))
    if report is not None:
        write_report(document(made), report)
    return WrittenCopy(made, target, report)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredFile:
    """What `--check` found, and what the table is called."""

    label: str
    found: MeasuredTable

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return self.found.to_json()

    def words(self) -> list[str]:
        """Return what the terminal shows."""
        return measured_words(self.label, self.found)


def measure_file(
    written: str,
    quasi: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    population: int | None = None,
    where: str | None = None,
    config: Path | None = None,
) -> MeasuredFile:
    """Return k, l, t and risks of a file or table, whoever anonymized it; nothing is recorded."""
    with open_source(written, config=config, where=where) as source:
        found = measure(source, quasi, sensitive=sensitive, population=population)
        return MeasuredFile(source.label, found)


def _target(written: str, out: Path | None) -> Path:
    if out is None:
        name = Path(written).name.split(".")[0] if is_file(written) else written.rpartition(".")[2]
        return check_target(Path(f"{name}-anonymized.csv"))
    check_target(out, ROW_FILES)
    if is_file(written) and out.resolve() == Path(written).resolve():
        raise InvalidInput("The copy must not replace the original: name another file with --out.")
    return out


def _delimiter(written: str) -> str:
    """Return the separator of the copy: that of the original, where it is CSV."""
    path = Path(written)
    if not path.is_file() or path.suffix.lower() in (".parquet", ".pq"):
        return ","
    return delimiter(path)


@contextmanager
def _memory(
    written: str, config: Path | None, source: AnonymizeSource, remember: Remember
) -> Iterator[ExposureLog]:
    """Lend what remembers this release: the ledger of the discreet.toml that lists the table."""
    if is_file(written):
        opened = (source.engine, source.table)
        bare = recorded_table(Path(written), config=config, opened=opened)
        place, dataset, table = bare.config, bare.dataset, bare.name
    else:
        place = Path(FILE_NAME) if config is None else config
        owner, declared = load(place).named(written)
        dataset, table = owner.name, declared.name
    with remember(place) as ledger:
        yield ExposureLog(ledger, dataset, table)
