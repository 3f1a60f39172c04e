"""Objects of S3, Google Cloud Storage or Azure as local files: fetched once for each state of the store.

The engine is locked in and reaches no network (note 0012), so a remote source is copied into the state folder
by this process, whole and unchanged, and read from there like any other. Each question first asks the store
once what it holds; only what has another size, time or tag than before is fetched. Keys come from the environment of
the process (AWS_ACCESS_KEY_ID, GOOGLE_APPLICATION_CREDENTIALS, ...), never from discreet.toml.
"""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.base.files import write_whole
from discreet.data.engines.delta import LOG, delta_files
from discreet.data.engines.files import READABLE
from discreet.errors import CatalogError

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
_MAGIC = re.compile(r"[*?\[]")
_LISTING = "listing.json"
_FILES = "files"
_TRIES = 3
_BLOCK = 1 << 20
_SECRETS = ("secret_key", "access_key", "session_token", "sas_token", "account_key", "credential")

Listing = dict[str, str]
"""Names below the source's folder, each with what tells one content from the next."""


def is_remote(source: str) -> bool:
    """Return whether a source is an address in an object store."""
    return source.partition("://")[0].lower() in SCHEMES and "://" in source


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """A store, the folder or object in it that is listed, and which names below it count."""

    store: Any
    folder: str
    pattern: str | None

    @property
    def named(self) -> bool:
        """Return whether it looks like one object, which must be there."""
        return self.pattern is None and Path(self.folder).suffix.lower() in READABLE


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where a source's files lie here, and the listing that they are of, as it was written down."""

    path: str
    home: Path
    listed: bytes

    def stands(self) -> bool:
        """Return whether the files are still those of the listing: nobody has fetched another state since."""
        return _written(self.home) == self.listed


def fetched(name: str, source: str, state: Path, *, any_files: bool = False) -> Fetched:
    """Return the local path or folder that holds what `source` holds now.

    `any_files`: a folder or a pattern may hold none; a named object must be there.

    Guarantee: the files are those of one listing of the store: it is asked again after the last byte, and what
        changed meanwhile is fetched anew; after three tries the source is refused. Where nothing has changed
        the store is listed once.
    """
    place = _opened(name, source)
    home = state / "remote" / hashlib.sha256(source.encode()).hexdigest()[:32]
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(home):
        for _ in range(_TRIES):
            listing, single = _listed(name, place)
            if not listing and (place.named or not any_files):
                raise _no_files(name)
            if _known(home) != listing:
                folder = place.folder.rpartition("/")[0] if single else place.folder
                _fetch(name, replace(place, folder=folder), listing, home)
                if _listed(name, place)[0] != listing:
                    continue
                write_whole(home / _LISTING, json.dumps(listing, sort_keys=True))
            (home / _FILES).mkdir(mode=0o700, exist_ok=True)
            path = home / _FILES / next(iter(listing)) if single else home / _FILES
            return Fetched(str(path), home, _written(home))
    raise changes(name)


def changes(name: str) -> CatalogError:
    """Return the refusal of a source of which no single state can be had."""
    return CatalogError(
        f"The source of table '{name}' changes while it is read.",
        hint="Declare a place that is written whole before it is named.",
    )


def _opened(name: str, source: str) -> RemotePlace:
    from pyarrow import fs

    scheme, _, rest = source.partition("://")
    address, mark, options = rest.partition("?") if "=" in rest else (rest, "", "")
    if "@" in address.partition("/")[0] and scheme.lower() not in ("abfs", "abfss"):
        raise _no_secrets(name)
    if any(word in options.lower() for word in _SECRETS):
        raise _no_secrets(name)
    head, pattern = _split(address)
    try:
        store, folder = fs.FileSystem.from_uri(f"{scheme.lower()}://{head}{mark}{options}")
    except Exception:  # noqa: BLE001 a driver's text names hosts, keys and accounts
        raise _unreachable(name) from None
    return RemotePlace(store, folder.rstrip("/"), pattern)


def _split(address: str) -> tuple[str, str | None]:
    """Return what is before the first pattern of an address, and the pattern."""
    pieces = address.rstrip("/").split("/")
    first = next((i for i, piece in enumerate(pieces) if _MAGIC.search(piece)), None)
    if first is None:
        return "/".join(pieces), None
    return "/".join(pieces[:first]), "/".join(pieces[first:])


def _listed(name: str, place: RemotePlace) -> tuple[Listing, bool]:
    """Return the names that count, with size and time, and whether the place is one object itself.

    Of a Delta table all that is there; what counts of it, its log says later.
    """
    try:
        # What looks like an object is asked for itself first, everything else last.
        listing = _object(place) if place.named else {}
        if listing:
            return listing, True
        listing = _below(place)
        if listing or place.named or place.pattern is not None:
            return listing, False
        listing = _object(place)
    except Exception:  # noqa: BLE001 likewise
        raise _unreachable(name) from None
    return listing, bool(listing)


def _object(place: RemotePlace) -> Listing:
    from pyarrow import fs

    own = place.store.get_file_info(place.folder)
    return {own.base_name: f"{own.size} {own.mtime_ns}"} if own.type == fs.FileType.File else {}


def _below(place: RemotePlace) -> Listing:
    from pyarrow import fs

    selector = fs.FileSelector(place.folder, recursive=True, allow_not_found=True)
    listing = {}
    for info in place.store.get_file_info(selector):
        below = info.path.removeprefix(place.folder).lstrip("/")
        if info.type == fs.FileType.File and _counts(below, place):
            listing[below] = f"{info.size} {info.mtime_ns}"
    return listing


def _counts(below: str, place: RemotePlace) -> bool:
    if ".." in below.split("/"):
        return False  # a store may hold such a name; no file of ours will
    if place.pattern is None:
        return True
    one, two = below.split("/"), place.pattern.split("/")
    deep = "**" in two
    return (
        fnmatch.fnmatchcase(below, place.pattern.replace("**/", "*"))
        if deep
        else len(one) == len(two) and all(map(fnmatch.fnmatchcase, one, two))
    )


@dataclass(frozen=True, slots=True)
class _Fetching:
    """One fetch: from which place into which folder, what the store lists now and what was there before."""

    name: str
    place: RemotePlace
    files: Path
    listing: Mapping[str, str]
    had: Mapping[str, str]

    def copy(self, wanted: Iterable[str]) -> None:
        """Fetch what is wanted and not there as it is listed."""
        missing = [
            below
            for below in wanted
            if not (self.files / below).is_file() or self.had.get(below) != self.listing[below]
        ]
        need = sum(int(self.listing[below].partition(" ")[0]) for below in missing)
        self.files.mkdir(mode=0o700, exist_ok=True)
        if need > shutil.disk_usage(self.files).free:
            raise CatalogError(
                f"The source of table '{self.name}' needs {need / 1e9:,.1f} GB in the state folder, "
                "which has less.",
                hint="Name fewer files, or give the state folder a larger disk.",
            )
        for below in missing:
            target = self.files / below
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            rough = target.with_name(f".new-{target.name}")
            try:
                with self.place.store.open_input_stream(f"{self.place.folder}/{below}") as source:
                    _pour(source, rough)
            except Exception:  # noqa: BLE001 likewise
                raise _unreachable(self.name) from None
            rough.replace(target)


def _fetch(name: str, place: RemotePlace, listing: Mapping[str, str], home: Path) -> None:
    """Bring the local files to the state of `listing`; of a Delta table only those of its newest version."""
    files = home / _FILES
    work = _Fetching(name, place, files, listing, _known(home) or {})
    (home / _LISTING).unlink(missing_ok=True)  # from here on nothing is known until all is there
    log = {below for below in listing if below.startswith(f"{LOG}/")}
    work.copy(sorted(log))
    wanted = set(listing)
    if log:
        for old in _there(files):
            if old.startswith(f"{LOG}/") and old not in log:
                (files / old).unlink()
        wanted = log | {file.path for file in delta_files(name, files)}
        if not wanted <= set(listing):
            raise _unreachable(name)
    for old in set(_there(files)) - wanted:
        (files / old).unlink()
    work.copy(sorted(wanted - log))


def _pour(source: Any, target: Path) -> None:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        while block := source.read(_BLOCK):
            file.write(block)


def _there(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]


def _known(home: Path) -> Listing | None:
    with contextlib.suppress(OSError, ValueError):
        return dict(json.loads((home / _LISTING).read_text(encoding="utf-8")))
    return None


def _written(home: Path) -> bytes:
    with contextlib.suppress(OSError):
        return (home / _LISTING).read_bytes()
    return b""


@contextlib.contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Let one process at a time fetch into a folder."""
    lock = os.open(home / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _unreachable(name: str) -> CatalogError:
    return CatalogError(
        f"The source of table '{name}' could not be fetched from its store.",
        hint="Check the address, and that the environment of this process holds keys that may list and read it.",
    )


def _no_files(name: str) -> CatalogError:
    return CatalogError(
        f"The source of table '{name}' holds no files in its store.",
        hint="Write the address of an object, of a folder or a pattern, such as s3://bucket/people/*.parquet.",
    )


def _no_secrets(name: str) -> CatalogError:
    return CatalogError(
        f"The source of table '{name}' holds a key of its store.",
        hint="Keys belong into the environment of the process, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    )
