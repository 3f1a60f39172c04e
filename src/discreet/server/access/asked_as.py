"""In whose name a caller asks: whose share pays, and who is written down as the one who asked."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.owner import name_of


@dataclass(frozen=True, slots=True)
class AskedAs:
    """Whose share pays for what one caller asks; `Principal.asks_as` decides it.

    `analyst` is None for the owner: she sees everything, and the whole budget pays. `asker` is who
    calls; the ledger writes it down where another share pays.
    """

    analyst: str | None
    asker: str

    @property
    def name(self) -> str:
        """Return the payer as every method of the curator takes it."""
        return name_of(self.analyst)
