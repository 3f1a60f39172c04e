"""What a statement gives back, and a statement that is ready to run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.server.pgwire.protocol.copy_rows import CopyForm
from discreet.server.pgwire.protocol.types import PgType, WireColumn


@dataclass(frozen=True, slots=True)
class StatementResult:
    """Rows, the tag that ends them, and notices. `columns` is None where there are no rows.

    `copy` says that the rows are sent as COPY sends them, and in which form.
    """

    tag: str
    columns: tuple[WireColumn, ...] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notices: tuple[str, ...] = ()
    counted: bool = False
    copy: CopyForm | None = None

    def tag_for(self, sent: int) -> str:
        """Return the tag after `sent` rows."""
        return f"{self.tag} {sent}" if self.counted else self.tag


@dataclass(frozen=True, slots=True)
class Ready:
    """A statement that is understood: its parameters, its columns, and how to run it."""

    run: Callable[[Sequence[Any]], Awaitable[StatementResult]]
    columns: tuple[WireColumn, ...] | None = None
    parameters: tuple[PgType, ...] = ()


def rows_of(
    columns: tuple[WireColumn, ...], rows: Sequence[Sequence[Any]], *notices: str
) -> StatementResult:
    """Return the result of a SELECT."""
    return StatementResult("SELECT", columns, rows, tuple(notices), counted=True)


def later(act: Callable[[], StatementResult]) -> Ready:
    """Return a statement without parameters or columns that is done when it is run."""

    async def run(_values: Sequence[Any]) -> StatementResult:
        return act()

    return Ready(run)
