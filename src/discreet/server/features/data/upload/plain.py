"""An upload of any readable format as plain CSV, rewritten in a child process where that is needed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engine.files import PARQUET_FILES
from discreet.engine.formats.convert import is_plain, rows_of
from discreet.engine.formats.text import detected_encoding
from discreet.engine.process.child import Child, Unreadable
from discreet.errors import EngineFailed, InvalidInput
from discreet.server.features.data.upload.limits import UploadBounds


@dataclass(frozen=True, slots=True)
class PlainUpload:
    """A file that can be read as it is; `encoding` is a guess that its owner should confirm.

    `words` are some by which the guess can be told. The repr does not show them.
    """

    path: Path
    encoding: str = ""
    words: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"PlainUpload({self.encoding!r})"


def plain_upload(received: Path, *, file: str, bounds: UploadBounds) -> PlainUpload:
    """Return where the rows of an upload lie as plain CSV or Parquet.

    Guarantee: this process looks at the beginning of a file and at so much of its text as tells the
    encoding; whatever is written or parsed is done by a child with bounds on memory, on time and on
    every file that it writes.
    """
    if received.suffix in PARQUET_FILES:
        return PlainUpload(received)
    try:
        table = rows_of(received) is not None  # a workbook, a database, JSON: no text to decode
        encoding, words = ("", ()) if table else detected_encoding(received)
        if not table and not encoding and is_plain(received):
            return PlainUpload(received)
    except InvalidInput as error:
        raise InvalidInput(error.message.replace(received.name, file), hint=error.hint) from None
    target = received.with_name("plain.csv")
    _rewrite(received, target, encoding, file, bounds)
    return PlainUpload(target, encoding, words)


def _rewrite(received: Path, target: Path, encoding: str, file: str, bounds: UploadBounds) -> None:
    setup = {
        "path": str(received),
        "plain": str(target),
        "encoding": encoding,
        "temporary": str(target.parent / "spill"),
        "memory_mb": bounds.memory_mb,
        "unpacked": bounds.unpacked,
    }
    problem = examined(setup, f"Unpacking '{file}'", bounds)
    if problem is not None:
        raise InvalidInput(problem.replace(received.name, file) or f"'{file}' cannot be read.")


def examined(setup: dict[str, Any], doing: str, bounds: UploadBounds) -> str | None:
    """Return what the child that opens uploads says is wrong; None where it has done its work."""
    child = Child("discreet.server.features.data.upload.examiner", setup)
    try:
        child.wait_ready(bounds.examine_seconds)
    except Unreadable as problem:
        return str(problem)
    except EngineFailed:
        raise InvalidInput(
            f"{doing} took more time or memory than this server gives to an upload."
        ) from None
    finally:
        child.close()
    return None
