"""Read, edit, check and replace a discreet.toml under a lock: the one way in which it is written."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from discreet.catalog.catalog import Catalog
from discreet.catalog.read.policy_file import LARGEST_FILE, content_of, decoded, loads
from discreet.core.system.atomic_file import write_whole
from discreet.core.system.regular_file import read_bytes
from discreet.errors import DiscreetError, InvalidInput

Edit: TypeAlias = Callable[[str, Catalog], str]
"""A change of a text, told what the text declares."""


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """What a discreet.toml declared before a change, and what it declares after it."""

    before: Catalog
    after: Catalog


def change_catalog(
    config: Path,
    edit: Edit,
    *,
    start: str | None = None,
    then: Callable[[], object] = lambda: None,
) -> CatalogChange:
    """Return both catalogs after `edit` has changed a discreet.toml; all else as `change_file`."""
    before: list[Catalog] = []

    def edited(text: str) -> str:
        before.append(loads(text, base=config.parent, name=config.name))
        return edit(text, before[0])

    after = change_file(config, edited, start=start, then=then)
    return CatalogChange(before[0], after)


def change_file(
    config: Path,
    edit: Callable[[str], str],
    *,
    start: str | None = None,
    then: Callable[[], object] = lambda: None,
) -> Catalog:
    """Return the catalog after `edit` has changed the text of a discreet.toml.

    Where there is no file yet, the text is `start`; without one that is refused. `then` puts the new
    file in force, while other writers still wait.

    Guarantee: writers take turns, so that none loses what another wrote; a new text that does not read
        as a catalog is not written; a crash leaves the old file or the new one; and a file that `then`
        cannot put in force is put back as it was. Whoever edits the file without the lock, in an
        editor, loses nothing either: what they wrote meanwhile is left, and the refusal says so. Only
        what is saved between the last reading and the renaming next to it, two system calls, is not
        seen: nothing that an editor shares with us could close that.
    """
    place = _place(config)
    with writing(place):
        before = content_of(place) if start is None or place.exists() else None
        new = edit(start or "" if before is None else decoded(before, place))
        catalog = loads(new, base=config.parent, name=config.name)
        if not _replaced(place, old=before, new=new):
            raise InvalidInput(
                f"The file '{place.name}' was changed elsewhere just now, so nothing was written.",
                hint="Try again.",
            )
        try:
            then()
        except BaseException as error:
            put_back = _put_back(place, before=before, after=new.encode())
            if not put_back and isinstance(error, DiscreetError):
                error.hint = (
                    f"'{place.name}' was changed elsewhere meanwhile and is left as it is now: check "
                    f"what it says. {error.hint}"
                ).rstrip()
            raise
    return catalog


def write_file(config: Path, text: str, *, force: bool = False) -> None:
    """Write a whole discreet.toml that was checked; refuse where there is one already, unless `force`."""
    place = _place(config)
    with writing(place):
        if not force:
            refuse_existing(place)
        write_over(place, text)


def refuse_existing(path: Path) -> None:
    """Refuse a path that is taken, before any work is done for it."""
    if path.exists() or path.is_symlink():
        raise InvalidInput(
            f"'{path}' exists already.", hint="Name another with --out, or replace it with --force."
        )


def put_back_file(config: Path, *, before: bytes | None, after: bytes | None) -> None:
    """Make the file what it was `before` (None: not there), unless it is no longer as it was `after`."""
    if before == after:
        return
    place = _place(config)
    with writing(place):
        _put_back(place, before=before, after=after)


def _put_back(place: Path, *, before: bytes | None, after: bytes | None) -> bool:
    """Return whether the file was still as it was `after`, and is as it was `before` now."""
    if before is not None:
        return _replaced(place, old=after, new=before)
    if not _holds(place, after):
        return False
    place.unlink(missing_ok=True)
    return True


class _ChangedElsewhereError(Exception):
    """The file is no longer what it was."""


def _replaced(place: Path, *, old: bytes | None, new: str | bytes) -> bool:
    """Return whether the file still held `old` and is `new` now: looked at when that lies ready beside it."""

    def require_old() -> None:
        if not _holds(place, old):
            raise _ChangedElsewhereError

    try:
        require_old()  # else nothing need be written at all
        write_over(place, new, before=require_old)
    except _ChangedElsewhereError:
        return False
    return True


def _holds(place: Path, content: bytes | None) -> bool:
    """Return whether the file is exactly this; one that cannot be read is another."""
    try:
        return bytes_of(place) == content
    except OSError:
        return False


def write_over(path: Path, text: str | bytes, *, before: Callable[[], None] = lambda: None) -> None:
    """Write `text` to `path`, complete or not at all, replacing what was there; `before` is called last."""
    # Readable by its owner only: the comments tell what the data holds.
    try:
        write_whole(path, text, durable=True, before=before)
    except OSError:
        raise InvalidInput(f"The file '{path}' cannot be written.") from None


def _place(config: Path) -> Path:
    """Return where the file lies: a link to it stays a link, and whoever writes by it takes the same lock."""
    return config.resolve() if config.is_symlink() else config


_LOCK_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def writing(config: Path) -> Iterator[None]:
    """Keep other processes from changing the file between our reading and our writing."""
    lock = config.with_name(f".{config.name}.lock")
    try:
        handle = os.open(lock, _LOCK_FLAGS, 0o600)
    except OSError:
        raise InvalidInput(f"The file '{config}' cannot be written.") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def bytes_of(config: Path) -> bytes | None:
    """Return the bytes of the file; None where there is none."""
    return read_bytes(config, most=LARGEST_FILE) if config.is_file() else None
