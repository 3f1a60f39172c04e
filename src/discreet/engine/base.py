"""What every engine offers, and `Exact`: a result that cannot be shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol, Self, final

import pyarrow as pa

from discreet.errors import DiscreetError, EngineFailed


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can and cannot do; callers and the contract suite ask here, never by name."""

    dialect: str
    """The name of the SQL dialect for sqlglot: duckdb, postgres or spark."""
    has_memory_limit: bool = True
    """Whether `EngineLimits.memory_mb` binds; otherwise the server's own settings do."""
    canonical: bool = False
    """Whether a held table is there as canon."dataset.table": c0, c1, ..., u and r, all canonical."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """What one query may use. None means what the machine has.

    `seconds` stops a query, `store_seconds` the storing of a result or the reading of a CSV file.
    `workers` is how many queries run side by side where the engine runs on this machine.
    `scratch` is a folder for what lasts as long as the engine alone (spilled pages, held results of
    DuckDB), to be removed by whoever made it, also when this process is killed.
    """

    seconds: float = 60.0
    memory_mb: int | None = None
    threads: int | None = None
    store_seconds: float = 3600.0
    workers: int = 2
    scratch: Path | None = None


def _refuse(*_: object) -> NoReturn:
    raise TypeError("An exact result cannot be shown, compared, copied or stored.")


@final
class Exact:
    """The exact result of a query over private rows.

    Guarantee: it has no way to become text, a number or bytes: `repr`, `str` and `format` hide
    size and content, it cannot be iterated, measured, compared, copied or pickled. `open_exact` is
    the only way in; an architecture test says who may import that name.
    """

    __slots__ = ("__table", "__weakref__")
    __hash__ = None  # type: ignore[assignment]  # a hash of a result would be one more way out

    def __init__(self, table: pa.Table) -> None:
        self.__table = table

    def __repr__(self) -> str:
        return "Exact(hidden)"

    def __format__(self, _spec: str, /) -> str:
        return repr(self)

    # Compared, asked for its truth, copied or stored, it would be known to somebody.
    __eq__ = __bool__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse


def open_exact(exact: Exact) -> pa.Table:
    """Return the table inside: only for rooms that add noise to it or say that they do not."""
    table: pa.Table = exact._Exact__table  # type: ignore[attr-defined]  # noqa: SLF001 the one door
    return table


def engine_failed() -> EngineFailed:
    """Return the one error for everything that can go wrong while rows are read.

    Guarantee: it is the same sentence for a wrong cell, a full disk, a time limit and a crash, and
    it is raised `from None`, so nothing that an engine said about a row travels with it.
    """
    return EngineFailed(
        "The database could not answer.",
        hint="Ask the data owner to check the source and the limits of the engine.",
    )


@contextmanager
def failing_alike() -> Iterator[None]:
    """Turn every failure but our own refusals into `engine_failed()`: a driver's text may hold a cell."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001 whatever it was
        raise engine_failed() from None


class Recipe(Protocol):
    """How the rows of one source become canonical: SQL that the kernel writes and engines run."""

    @property
    def declared(self) -> str:
        """Return everything that canonical rows depend on besides the source's content."""
        ...

    @property
    def people(self) -> tuple[str, ...]:
        """Return the engine's names of all tables with the same people; their types count."""
        ...

    def whole(self, types: Mapping[str, Mapping[str, str]]) -> bool:
        """Return whether these people go by integers, from the column types of `people`."""
        ...

    def check(self, types: Mapping[str, str]) -> None:
        """Refuse what a source of these column types cannot give."""
        ...

    @property
    def copy(self) -> bool:
        """Return whether the owner lets a database or cluster store the canonical rows."""
        ...

    @property
    def version(self) -> str | None:
        """Return the owner's word for the source's content, where there is one."""
        ...

    @property
    def owner(self) -> str:
        """Return the ledger that a stored copy belongs to."""
        ...

    def copied(self, types: Mapping[str, str], relation: str, dialect: str, *, whole: bool) -> str:
        """Return the SELECT whose result is stored where engines are shared: c0, ..., u and r."""
        ...

    def stored(
        self, types: Mapping[str, str], relation: str, *, whole: bool, salt: str, fits: bool
    ) -> str:
        """Return the SELECT whose result is stored as the canonical rows; `fits`: they can be sorted in memory."""
        ...

    def foreseen(self, stored: str) -> Mapping[str, str]:
        """Return SELECTs of one number to be kept with `stored`: as it is asked, and as it is counted."""
        ...

    def dropped(self, types: Mapping[str, str], relation: str, *, whole: bool, stored: str) -> str:
        """Return the SELECT of how much the declarations leave out of `stored`: one row of counts."""
        ...


class Held(Protocol):
    """One unchanging state of some tables: what was fingerprinted is what is read.

    Guarantee: all `run`s see the very rows behind `fingerprints`, whatever writers, replaced files
        or other processes do meanwhile. Opened before the price is known, read after the charge,
        closed at the end (also as a context manager).
    """

    fingerprints: Mapping[str, str]
    """Of each held table a text that changes with its content.

    Computed from private rows: for the ledger and the owner, never for an analyst.
    """

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT over the held state."""
        ...

    def keep(self, sql: str) -> str:
        """Return the relation of the stored result of one SELECT over the held state.

        It may be read by `run` until `close`, which removes it.
        """
        ...

    def close(self) -> None:
        """Let the state go."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Engine(Protocol):
    """Exact computation over attached tables.

    Runs only SQL that we generated; `discreet.engine.dialect.guard` is the second wall, the engine's own
    lock-down the third. Every failure while rows are read is `engine_failed()`.
    """

    capabilities: Capabilities
    """What this engine can and cannot do."""

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of an attached table."""
        ...

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT, or fail after `seconds` (the engine's limit if None).

        Rows come in no particular order. Column types are those of `discreet.engine.arrow`.
        """
        ...

    def has(self, name: str) -> bool:
        """Return whether a table of this name is attached."""
        ...

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with the engine's names for their types."""
        ...

    def names(self, name: str) -> list[str]:
        """Return the names of a source's columns as it spells them; no row is read for it."""
        return [column for column, _ in self.columns(name)]

    def schema(self, name: str) -> dict[str, str]:
        """Return the types of a source's columns, in small letters, that no row can change."""
        return {column.lower(): kind for column, kind in self.columns(name)}

    def hold(self, tables: Mapping[str, Recipe]) -> Held:
        """Return one unchanging state of these tables, to be closed by the caller.

        Refuses a source that is not there, cannot be read or lacks what is declared. Before the
        charge: it looks at private rows and says nothing about them.
        """
        ...

    def tree(self, sql: str) -> str | None:  # noqa: ARG002 for those that show one
        """Return the engine's own parse of a statement (DuckDB's `json_serialize_sql`); reads nothing.

        None where an engine does not show one.
        """
        return None

    def cancel(self, *, thread: int | None = None) -> None:
        """Stop what is running now; it fails as if its time were over.

        `thread` (of `threading.get_ident`) stops only what that thread is waiting for.
        """
        ...

    def close(self) -> None:
        """Give back processes, connections and temporary files."""
        ...
