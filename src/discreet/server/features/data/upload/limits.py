"""How much of an upload the server takes."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import TooLarge
from discreet.server.settings import Settings


@dataclass(frozen=True, slots=True)
class UploadBounds:
    """The most that one upload may hold or take.

    `unpacked` bounds what a compressed file becomes, `cell` the bytes of one text, `heading` those
    of a CSV file's first line. `seconds` is for the transfer, `examine_seconds` for each look at the
    content. `at_once` files are received at a time; `spare` bytes of the disk stay free.
    """

    size: int
    rows: int = 50_000_000
    columns: int = 1_000
    cell: int = 100_000
    heading: int = 100_000
    unpacked: int = 4 << 30
    seconds: float = 3600.0
    examine_seconds: float = 600.0
    memory_mb: int = 2048
    at_once: int = 4
    spare: int = 256 << 20

    @classmethod
    def of(cls, settings: Settings) -> UploadBounds:
        """Return the bounds that follow from the settings of the server."""
        size = settings.max_upload_mb << 20
        return cls(size=size, unpacked=8 * size)

    def too_large(self) -> TooLarge:
        """Return the error for a file with too many bytes."""
        return TooLarge(
            f"The file is larger than {self.size >> 20:,} MB, the most that this server takes.",
            hint="Send it as Parquet, which is smaller, or let the owner of the server raise the "
            "limit or name the file in discreet.toml.",
        )
