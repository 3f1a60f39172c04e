"""Checked request of a proposal (`discreet init`), from command, HTTP or Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.numbers import Delta, Epsilon
from discreet.core.requests.checked import checked
from discreet.core.requests.declare import InitFields
from discreet.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class InitRequest(InitFields):
    """What the owner asks `discreet init` for, checked; `files` are those to propose for, or tables."""

    files: tuple[str, ...] = ()

    if TYPE_CHECKING:
        epsilon: Epsilon | None
        delta: Delta | None
        out: Path

    @classmethod
    def of(cls, *files: str | Path, **words: Any) -> InitRequest:
        """Return a checked request from the fields of `InitFields`."""
        asked = checked(InitFields(**words))
        if asked["accept"] and (asked["epsilon"] is None or asked["unit"] is None):
            raise InvalidInput(
                "--accept needs --epsilon and --unit: the budget and whom it protects are the owner's "
                "choice."
            )
        return cls(**asked | {"files": tuple(map(str, files)), "out": Path(asked["out"])})
