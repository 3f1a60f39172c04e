"""What every engine offers: `Exact`, a result that cannot be shown, and the readers that alone return one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn, Protocol, Self, TypeAlias, final

import pyarrow as pa

from discreet.base.proof import Permit, require_permit
from discreet.data.engines.copies import Recipe
from discreet.errors import DiscreetError, EngineFailed, InternalError


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
    """Return the table inside: only for packages that add noise to it or say that they do not."""
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


NOTHING_STORED: Mapping[str, str] = MappingProxyType({})
"""No table is wanted as it was at another time."""


def require_kept(lost: Collection[str]) -> None:
    """Raise where tables cannot be held as they were."""
    if lost:
        raise StateLost(lost)


class StateLost(Exception):
    """Some tables cannot be held as they were: what was stored of them is gone, and their rows changed."""

    def __init__(self, tables: Collection[str]) -> None:
        super().__init__(*tables)
        self.tables = tuple(tables)


def _refuse_copy(*_: object) -> NoReturn:
    raise TypeError("A paid reader cannot be copied or stored.")


class RunSql(Protocol):
    """Runs one SELECT within so many seconds."""

    def __call__(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result, or fail."""
        ...


KeepSql: TypeAlias = Callable[[str], str]


@final
class PaidReader:
    """What reads private rows: there is no other way to those that a question holds.

    Guarantee: whoever has one has a genuine `Permit`, so an entry of the ledger was durable before
        the first row was read; and every private table of the held state belongs to the dataset
        that the entry names. Both are checked when it is made, by `raise`, so also under `python -O`.
        It does not prove that the SQL is the one that was priced (`discreet.privacy.kernel.seal`), nor that
        the entry is read for only once: it may `run` any number of SELECTs until the state is closed.
        `through` hands its methods to whoever watches them; an architecture test lists who may.
    """

    __slots__ = ("__keep", "__permit", "__run")

    def __init__(
        self, permit: Permit, *, run: RunSql, keep: KeepSql, private: Mapping[str, str | None]
    ) -> None:
        paid = require_permit(permit)
        if any(whose not in {None, paid.dataset} for whose in private.values()):
            raise InternalError("What was paid for one dataset does not open another one's rows.")
        self.__permit, self.__run, self.__keep = paid, run, keep

    @property
    def permit(self) -> Permit:
        """Return what was paid, for another state of the same rows."""
        return self.__permit

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT over the held state."""
        return self.__run(sql, seconds=seconds)

    def keep(self, sql: str) -> str:
        """Return the relation of the stored result of one SELECT over the held state.

        It may be read by `run` until the state is closed, which removes it.
        """
        return self.__keep(sql)

    def through(
        self,
        run: Callable[[RunSql], RunSql] = lambda run: run,
        keep: Callable[[KeepSql], KeepSql] = lambda keep: keep,
    ) -> PaidReader:
        """Return a reader for the same permit that reads through what these make of its methods."""
        return PaidReader(self.__permit, run=run(self.__run), keep=keep(self.__keep), private={})

    __copy__ = __deepcopy__ = __reduce_ex__ = __getstate__ = _refuse_copy


def require_paid(reader: object) -> PaidReader:
    """Return what is a paid reader, or raise: what merely has a `run` is none."""
    if type(reader) is not PaidReader:
        raise TypeError("A charge comes before a look: only a paid reader reads rows.")
    require_permit(getattr(reader, "permit", None))  # one that was never made has none
    return reader


@final
class UnpaidReader:
    """What reads without a permit: the owner's own eyes, and tables that hold nobody's rows.

    Guarantee: none. Nothing it returns may go to anybody who asks; an architecture test lists the files
        that may have one, and why.
    """

    __slots__ = ("__run",)

    def __init__(self, run: RunSql) -> None:
        self.__run = run

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        return self.__run(sql, seconds=seconds)

    def through(self, run: Callable[[RunSql], RunSql]) -> UnpaidReader:
        """Return a reader that reads through what `run` makes of its method."""
        return UnpaidReader(run(self.__run))


class Held(Protocol):
    """One unchanging state of some tables: what was fingerprinted is what is read.

    Guarantee: all readers see the very rows behind `fingerprints`, whatever writers, replaced files
        or other processes do meanwhile. Opened before the price is known, read after the charge
        (`paid`), closed at the end (also as a context manager).
    """

    fingerprints: Mapping[str, str]
    """Of each held table a text that changes with its content.

    Computed from private rows: for the ledger and the owner, never for an analyst.
    """

    private: Mapping[str, str | None]
    """Of each held table the dataset whose people's rows it has; None where they are nobody's."""

    versions: Mapping[str, str] = NOTHING_STORED
    """Of each held table the version that answers name; it says nothing about rows."""

    def paid(self, permit: Permit) -> PaidReader:
        """Return the reader of the held state for what was paid, or raise."""
        return PaidReader(permit, run=self._run, keep=self._keep, private=self.private)

    def public_reader(self, table: str) -> UnpaidReader:
        """Return the reader of a held table that has nobody's rows, or raise."""
        if self.private[table] is not None:
            raise InternalError("Only a table that is declared public is read without a charge.")
        return UnpaidReader(self._run)

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT over the held state."""
        ...

    def _keep(self, sql: str) -> str:
        """Return the relation of the stored result of one SELECT, which `close` removes."""
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

    Runs only SQL that we generated; `discreet.data.engines.guard` is the second wall, the engine's own
    lock-down the third. Every failure while rows are read is `engine_failed()`.
    """

    capabilities: Capabilities
    """What this engine can and cannot do."""

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of an attached table."""
        ...

    def owner_reader(self) -> UnpaidReader:
        """Return the reader of the sources as they are: for the owner's own eyes, and for no answer."""
        return UnpaidReader(self._run)

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT, or fail after `seconds` (the engine's limit if None).

        Rows come in no particular order. Column types are those of `discreet.data.engines.arrow`.
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
        """Return the types of a source's columns, in small letters, as they are now; rows may have made them."""
        return {column.lower(): kind for column, kind in self.columns(name)}

    def hold(
        self,
        tables: Mapping[str, Recipe],
        *,
        stored: Mapping[str, str] = NOTHING_STORED,
        together: bool = False,
    ) -> Held:
        """Return one unchanging state of these tables, to be closed by the caller.

        Refuses a source that is not there, cannot be read or lacks what is declared. Before the
        charge: it looks at private rows and says nothing about them.

        Guarantee: what `stored` names is read as it was when it had this fingerprint, wherever the
            engine keeps such rows, and without a look at the source's present ones; raises
            StateLost where they are gone and the source has others. With `together` there was one
            moment at which all other tables were as they are read.
        """
        ...

    def changed(self, name: str, fingerprint: str) -> bool:
        """Return whether the rows of a source are others now: for its owner's eyes."""
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
