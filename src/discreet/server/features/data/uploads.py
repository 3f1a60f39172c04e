"""Where uploads lie, how much of one the server takes, and how one becomes plain CSV."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from starlette.requests import HTTPConnection

from discreet.base.files import read_bytes, write_whole
from discreet.data.catalog.writer import writing
from discreet.data.engines.child import Child, Unreadable
from discreet.data.engines.files import PARQUET_FILES
from discreet.data.engines.formats import detected_encoding, is_plain, rows_of
from discreet.errors import EngineFailed, InvalidInput, TooLarge, TooManyRequests, UnknownName
from discreet.server.settings import Settings

HOUR = 3600.0
FOLDER = "uploads"
TABLE = "table.parquet"
_FACTS = "facts.json"
_RETIRED = "retired.json"
_ID = re.compile(r"[0-9a-f]{32}")
_STALE = 24 * HOUR
"""Seconds after which a folder without facts is what a crash has left behind."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was received and examined. `file` is the sender's name for it, for reading only.

    `digest` is the hash of the bytes as they came: the same people again are found by it.
    `encoding` is how its text was read where it was not UTF-8, `words` some to tell that by.
    """

    id: str
    file: str
    bytes: int
    columns: tuple[str, ...]
    created: float
    digest: str
    encoding: str = ""
    words: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for the owner."""
        return {k: v for k, v in self.facts().items() if k != "digest"}

    def facts(self) -> dict[str, Any]:
        """Return everything, as it is kept beside the table."""
        return asdict(self) | {"columns": list(self.columns), "words": list(self.words)}


class UploadStore:
    """The folder of uploads; safe to share among threads.

    Guarantee: no name that a sender chose becomes a path. An upload is there whole, with its
    facts, or not at all.
    """

    def __init__(self, state: Path, bounds: UploadBounds) -> None:
        self.folder = state / FOLDER
        self.bounds = bounds
        self._lock = threading.Lock()
        self._open: set[str] = set()

    @contextmanager
    def receiving(self) -> Iterator[Path]:
        """Lend an empty folder for one upload; it vanishes unless `keep` has put its facts there."""
        with self._lock:
            self._sweep()
            self._make_room()
            name = secrets.token_hex(16)
            self._open.add(name)
        place = self.folder / name
        try:
            place.mkdir(mode=0o700, parents=True)
            yield place
        finally:
            if not (place / _FACTS).is_file():
                shutil.rmtree(place, ignore_errors=True)
            with self._lock:
                self._open.discard(name)

    def keep(
        self,
        place: Path,
        *,
        file: str,
        columns: tuple[str, ...],
        digest: str,
        plain: PlainUpload | None = None,
    ) -> Upload:
        """Return the upload whose table lies in `place`, kept from now on."""
        upload = Upload(
            id=place.name,
            file=file,
            bytes=(place / TABLE).stat().st_size,
            columns=columns,
            created=time.time(),
            digest=digest,
            encoding="" if plain is None else plain.encoding,
            words=() if plain is None else plain.words,
        )
        write_whole(place / _FACTS, json.dumps(upload.facts()), durable=True)
        return upload

    def all(self) -> list[Upload]:
        """Return every upload, oldest first."""
        found = [self._read(place.name) for place in self._places()]
        return sorted((u for u in found if u is not None), key=lambda u: (u.created, u.id))

    def find(self, upload_id: str) -> Upload:
        """Return the upload with this id, or refuse."""
        upload = self._read(upload_id) if _is_ours(self.folder / upload_id[:64]) else None
        if upload is None:
            raise UnknownName("There is no upload with this id.")
        with suppress(OSError):
            os.utime(self.folder / upload_id / _FACTS)  # somebody works on it
        return upload

    def unseen(self, seconds: float) -> list[Upload]:
        """Return the uploads that nobody has looked at for so long, oldest first."""
        end = time.time() - seconds
        return [upload for upload in self.all() if self._seen(upload) < end]

    def _seen(self, upload: Upload) -> float:
        try:
            looked = (self.folder / upload.id / _FACTS).stat().st_mtime
        except OSError:
            looked = 0.0  # deleted just now
        return max(upload.created, looked)

    def table(self, upload: Upload) -> Path:
        """Return the Parquet file of an upload."""
        return self.folder / upload.id / TABLE

    def remove(self, upload: Upload) -> None:
        """Delete an upload for good; the caller has seen that no dataset reads it."""
        shutil.rmtree(self.folder / upload.id, ignore_errors=True)

    def retire(self, upload: Upload, budget: str) -> None:
        """Delete the file of a dataset for good, and remember by its hash which budget protects it."""
        with self._lock:
            known = self.retired() | {upload.digest: budget}
            # The file goes next: its budget must be remembered then, whatever fails.
            write_whole(self.folder / _RETIRED, json.dumps(known), durable=True)
        self.remove(upload)

    def retired(self) -> dict[str, str]:
        """Return the budgets of the people in files that are gone, by the hash of their bytes."""
        try:
            return dict(json.loads((self.folder / _RETIRED).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def _read(self, upload_id: str) -> Upload | None:
        try:
            facts = json.loads((self.folder / upload_id / _FACTS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        listed = {key: tuple(facts.get(key, ())) for key in ("columns", "words")}
        return Upload(**facts | listed)

    def _places(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return [place for place in self.folder.iterdir() if _is_ours(place)]

    def _sweep(self) -> None:
        for place in self._places():
            if place.name in self._open or (place / _FACTS).is_file():
                continue
            if time.time() - place.stat().st_mtime > _STALE:
                shutil.rmtree(place, ignore_errors=True)

    def _make_room(self) -> None:
        if len(self._open) >= self.bounds.at_once:
            raise TooManyRequests("Other files are being received.", hint="Try again in a minute.")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shutil.disk_usage(self.folder).free < self.bounds.size + self.bounds.spare:
            raise TooLarge(
                "The disk of the server has no room for uploads.",
                hint="Delete uploads that are not needed.",
            )


def expire(
    config: Path, store: UploadStore, *, hours: float, tell: Callable[[Sequence[str]], None]
) -> list[str]:
    """Return the ids of the uploads that were deleted: never confirmed, unseen for `hours`.

    They are private rows that serve nobody, so they do not stay.
    `tell` hears of them first, so that nothing goes that is not written down.

    Guarantee: an upload whose id stands anywhere in discreet.toml is kept, even if the file does not
        read as a catalog just now; and none is confirmed meanwhile, because writers wait.
    """
    if not store.unseen(hours * HOUR):
        return []
    with writing(config):
        try:
            declared = read_bytes(config)
        except FileNotFoundError:
            declared = b""
        except OSError:
            return []  # nobody knows what is confirmed
        gone = [u for u in store.unseen(hours * HOUR) if u.id.encode() not in declared]
        if gone:
            tell([upload.id for upload in gone])
        for upload in gone:
            store.remove(upload)
    return [upload.id for upload in gone]


def uploads_of(request: HTTPConnection) -> UploadStore:
    """Return the uploads of the server that answers this request."""
    found: UploadStore = request.app.state.uploads
    return found


def _is_ours(place: Path) -> bool:
    """Return whether this is a folder that we have made, not a link that leads elsewhere."""
    return _ID.fullmatch(place.name) is not None and place.is_dir() and not place.is_symlink()


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
    child = Child("discreet.server.features.data.examiner", setup)
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
