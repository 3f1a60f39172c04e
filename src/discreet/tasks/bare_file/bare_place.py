"""The table that FILE|TABLE means: a declared one, or a bare file that is declared for the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from discreet.catalog.bare_file import bare_table
from discreet.core.bill import Charged
from discreet.core.numbers import Delta, Epsilon
from discreet.tasks.bare_file.asker import AskedBy
from discreet.tasks.bare_file.bare_synth import PaidFirst, ReadyFile, ready_file
from discreet.tasks.bare_file.unpaid import rollback_unless_paid

FILES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat", ".parquet", ".pq")
"""Endings that mean a file, also where there is none."""

Foresee = Callable[[Path, str, dict[str, Any]], None]
"""Refuses what a command would refuse later: given the discreet.toml, the table and what is asked."""

Result = TypeVar("Result", bound=Charged)


@dataclass(frozen=True, slots=True)
class WrittenSource:
    """FILE|TABLE as it was written, and how a bare file is declared for it."""

    written: str
    config: Path | None = None
    unit: str = "row"
    accept: bool = False

    @property
    def is_file(self) -> bool:
        """Return whether a bare file is meant, be it there or not."""
        path = Path(self.written)
        return path.exists() or path.suffix.lower() in FILES

    @property
    def base(self) -> Path:
        """Return the folder of the discreet.toml that is meant."""
        if self.config is not None:
            return self.config.parent
        return Path(self.written).parent if self.is_file else Path()


@dataclass(frozen=True, slots=True)
class TypedPlace:
    """A declared table, what is left to ask of it, and what was paid first out of what was asked."""

    config: Path | None
    table: str
    asked: dict[str, Any]
    first: PaidFirst | None = None

    def told(self, found: Result) -> Result:
        """Return a result with the whole price in its bill: types, and ranges, were paid for first."""
        return found if self.first is None else replace(found, bill=self.first.whole(found.bill))


@contextmanager
def declared_place(
    source: WrittenSource, epsilon: str, delta: str | None
) -> Iterator[tuple[Path | None, str]]:
    """Lend the discreet.toml and the table that `source` means; undone if nothing is paid.

    For commands that choose among declared values, which types alone do not give them: the columns of
    a text file that nobody has declared are texts, so no row decides what is refused.
    """
    if not source.is_file:
        yield source.config, source.written
        return
    found = bare_table(
        Path(source.written),
        config=source.config,
        epsilon=Epsilon.of(epsilon),
        delta=None if delta is None else Delta.of(delta),
        unit=source.unit,
        accept=source.accept,
        untyped=True,
    )
    with rollback_unless_paid(found):
        yield found.config, found.table


@contextmanager
def typed_place(
    source: WrittenSource,
    asked: dict[str, Any],
    *,
    foresee: Foresee | None = None,
    pure: bool = False,
    ranges: Sequence[str] | None = None,
) -> Iterator[TypedPlace]:
    """Lend the discreet.toml and the table that `source` means, and what is asked of it.

    Of a text file nothing says what its columns hold but its rows: types are paid for first, after
    `foresee` has had its chance to refuse. `pure`, `ranges`: see `ready_file`.
    """
    if not source.is_file:
        yield TypedPlace(source.config, source.written, asked)
        return

    def left(found: ReadyFile) -> dict[str, Any]:
        delta = None if found.delta is None else found.delta.value
        return asked if found.first is None else {**asked, "epsilon": found.epsilon, "delta": delta}

    def tried(found: ReadyFile) -> None:
        if foresee is not None:
            foresee(found.config, found.table, left(found))

    delta = asked["delta"]
    ready = ready_file(
        Path(source.written),
        config=source.config,
        epsilon=Epsilon.of(asked["epsilon"]),
        delta=None if delta is None else Delta.of(delta),
        unit=source.unit,
        accept=source.accept,
        conditions=[each for each in (asked.get("where"), *asked.get("rules", ())) if each],
        foresee=tried,
        pure=pure,
        ranges=ranges,
        asker=AskedBy.of(asked),
    )
    with ready as found:
        yield TypedPlace(found.config, found.table, left(found), found.first)
