"""The table that FILE|TABLE means: a declared one, or a bare file that is declared for the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core.bill import Spent
from discreet.core.numbers import Delta, Epsilon

FILES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat", ".parquet", ".pq")
"""Endings that mean a file, also where there is none."""

Foresee = Callable[[Path, str, dict[str, Any]], None]
"""Refuses what a command would refuse later: given the discreet.toml, the table and what is asked."""


@contextmanager
def declared_place(
    source: str, config: Path | None, epsilon: str, delta: str | None, *, accept: bool, unit: str
) -> Iterator[tuple[Path | None, str]]:
    """Lend the discreet.toml and the table that `source` means; undone if nothing is paid.

    For commands that choose among declared values, which types alone do not give them: the columns of
    a text file that nobody has declared are texts, so no row decides what is refused.
    """
    path = Path(source)
    if not path.exists() and path.suffix.lower() not in FILES:
        yield config, source
        return
    from discreet.catalog.propose.bare_file import bare_table
    from discreet.tasks.bare.unpaid import undone_unless_paid

    found = bare_table(
        path,
        config=config,
        epsilon=Epsilon.of(epsilon),
        delta=None if delta is None else Delta.of(delta),
        unit=unit,
        accept=accept,
        untyped=True,
    )
    with undone_unless_paid(found):
        yield found.config, found.table


def with_types(found: dict[str, Any], epsilon: Any, delta: Any) -> dict[str, Any]:
    """Return a result with all that was asked for as its price: types, and ranges, were paid for first."""
    return found | {"cost": Spent(Fraction(epsilon), Fraction(delta or 0)).to_json()}


@contextmanager
def typed_place(
    source: str,
    config: Path | None,
    asked: dict[str, Any],
    *,
    accept: bool,
    unit: str,
    foresee: Foresee | None = None,
    pure: bool = False,
    ranges: Sequence[str] | None = None,
) -> Iterator[tuple[Path | None, str, dict[str, Any]]]:
    """Lend the discreet.toml and the table that `source` means, and what is asked of it.

    Of a text file nothing says what its columns hold but its rows: types are paid for first, after
    `foresee` has had its chance to refuse. `pure`, `ranges`: see `ready_file`.
    """
    path = Path(source)
    if not path.exists() and path.suffix.lower() not in FILES:
        yield config, source, asked
        return
    from discreet.tasks.bare.bare_synth import ReadyFile, ready_file

    def given(found: ReadyFile) -> dict[str, Any]:
        left = None if found.delta is None else found.delta.value
        return {**asked, "epsilon": found.epsilon, "delta": left} if found.paid else asked

    def tried(found: ReadyFile) -> None:
        if foresee is not None:
            foresee(found.config, found.table, given(found))

    delta = asked["delta"]
    ready = ready_file(
        path,
        config=config,
        epsilon=Epsilon.of(asked["epsilon"]),
        delta=None if delta is None else Delta.of(delta),
        unit=unit,
        accept=accept,
        conditions=[each for each in (asked.get("where"), *asked.get("rules", ())) if each],
        foresee=tried,
        pure=pure,
        ranges=ranges,
    )
    with ready as found:
        yield found.config, found.table, given(found)
