"""New tokens in a file of their owner's: as a CSV, or as a sheet with links and QR codes to print."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from discreet.errors import InvalidInput

Row = tuple[str, str, str]
"""Who, in which role, and the token's text."""


def classes() -> ModuleType:
    """Return the server's module of classes; only where its extra is installed."""
    from discreet.cli.extras import server_parts

    server_parts("Tokens")
    from discreet.server.access import tokens as found

    return found


@contextmanager
def written_once(out: Path | None, url: str) -> Iterator[Callable[[Sequence[Row]], None] | None]:
    """Lend a function that writes tokens to a new file only its owner can read."""
    if out is None:
        yield None
        return
    if out.suffix == ".html" and not url.startswith(("http://", "https://")):
        raise InvalidInput(f"'{url[:80]}' is no address.", hint="Use --url https://NAME:PORT.")
    try:
        handle = os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise InvalidInput(f"'{out}' exists already.", hint="Name another with --out.") from None
    except OSError:
        raise InvalidInput(f"'{out}' cannot be written.") from None
    with os.fdopen(handle, "w", newline="", encoding="utf-8") as file:

        def write(rows: Sequence[Row]) -> None:
            file.write(_sheet(rows, url) if out.suffix == ".html" else _csv(rows))

        try:
            yield write
        except BaseException:
            out.unlink(missing_ok=True)
            raise


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("analyst", "role", "token"))
    writer.writerows(rows)
    return text.getvalue()


def _sheet(rows: Sequence[Row], url: str) -> str:
    from discreet.report.qr import SheetCard, sign_in_sheet

    base = url.rstrip("/")
    cards = [SheetCard.of(name or role, f"{base}/ask?token={text}") for name, role, text in rows]
    return sign_in_sheet(f"{len(cards)} links", f"They sign in at {base}.", cards)
