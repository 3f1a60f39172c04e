"""A shelf: made things of one kind, a folder each, under names that the server chose."""

from __future__ import annotations

import fcntl
import json
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

from discreet.base.files import write_whole
from discreet.errors import TooManyRequests, UnknownName

FRAGMENT = "report.part"
"""What a page shows of a thing: markup that we made, every text escaped."""
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "zip": "application/zip",
}
"""What a file holds, by its ending."""
_FACTS = "facts.json"
_LOCK = ".lock"
_ID = re.compile(r"[0-9a-f]{32}")


class Kept:
    """A thing on a shelf: a frozen dataclass of plain values, these two among them."""

    id: str
    """The name of its folder: 32 hexadecimal digits."""
    created: float
    """When it was made, in seconds."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for those who may see it."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]  # each is a dataclass


Item = TypeVar("Item", bound=Kept)


class Shelf(Generic[Item]):
    """The folder of one kind of things; safe to share among threads and processes.

    Guarantee: no name that a caller chose becomes a path; a thing is there whole or not at all, and
        for an analyst only those are there that the analyst paid for.

    What lies there and how it is called; `files` can be downloaded and say what a page calls them.
    """

    kind: Callable[..., Item]
    folder: str
    one: str
    many: str
    listed_by: str
    files: Mapping[str, str] = {}  # as every rule, said by the class and never changed
    most = 200
    most_each = 20
    most_bytes = 20 << 30

    def __init__(self, state: Path) -> None:
        self._folder = state / self.folder
        self._lock = threading.Lock()

    def all(self, analyst: str | None = None) -> list[Item]:
        """Return the things, latest first; only those that this analyst paid for, if one is given."""
        if not self._folder.is_dir():
            return []
        found = [self._read(place) for place in self._folder.iterdir() if _ID.fullmatch(place.name)]
        mine = [each for each in found if each is not None and _is_of(each, analyst)]
        return sorted(mine, key=lambda each: -each.created)

    def find(self, name: str, analyst: str | None = None) -> Item:
        """Return one thing; those of others do not exist for an analyst."""
        found = self._read(self._folder / name) if _ID.fullmatch(name) else None
        if found is None or not _is_of(found, analyst):
            raise UnknownName(
                f"There is no such {self.one}.",
                hint=f"GET {self.listed_by} lists what there is for you.",
            )
        return found

    def file(self, item: Item, name: str) -> Path:
        """Return the path of one of its files."""
        path = self.place(item) / name
        if name not in self.files or not path.is_file():
            there = ", ".join(self.files)
            raise UnknownName(f"This {self.one} has no such file.", hint=f"There are: {there}.")
        return path

    def download(self, item: Item, name: str, *, saved_as: str) -> dict[str, Any]:
        """Return what a FileResponse takes to hand out one of its files, to be saved.

        Not to be shown: a report brings its own style, which this server's pages would refuse.
        """
        path = self.file(item, name)
        return {"path": path, "media_type": MEDIA_TYPES[path.suffix[1:]], "filename": saved_as}

    def part(self, item: Item) -> str:
        """Return what a page shows of it: markup that we made, every text escaped."""
        try:
            return (self.place(item) / FRAGMENT).read_text(encoding="utf-8")
        except OSError:
            return ""

    def place(self, item: Item) -> Path:
        """Return its folder."""
        return self._folder / item.id

    def room(self, analyst: str | None = None) -> None:
        """Refuse when there are too many things or bytes, before anything is paid."""
        if analyst is not None and len(self.all(analyst)) >= self.most_each:
            raise TooManyRequests(
                f"You have {self.most_each} {self.many} already.", hint="Delete some of them."
            )
        if len(self.all()) >= self.most or self._bytes() >= self.most_bytes:
            raise TooManyRequests(
                f"There are {self.most} {self.many} or {self.most_bytes >> 30} GB of them already.",
                hint="Delete some that nobody needs.",
            )

    def _bytes(self) -> int:
        return sum(path.stat().st_size for path in self._folder.glob("*/*") if path.is_file())

    def keep(self, item: Item, fill: Callable[[Path], None], *, inside: Path | None = None) -> Item:
        """Return the thing after `fill` has written its files into a folder; whole or not at all.

        It is made `inside` a folder of the same file system, if one is given: what a process leaves
        there when it is killed goes with that folder.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=inside or self._folder, prefix="making-"))
        try:
            fill(place)
            self.write_facts(place, item)
            with self._alone():
                if self.place(item).exists():
                    shutil.rmtree(self.place(item))
                place.rename(self.place(item))
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return item

    def remove(self, item: Item) -> None:
        """Delete it; what it cost stays spent, and that it left stays recorded."""
        with self._alone():
            shutil.rmtree(self.place(item), ignore_errors=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the shelf while a thing is exchanged: children of the server put things there too."""
        with self._lock, (self._folder / _LOCK).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def write_facts(self, place: Path, item: Item) -> None:
        """Write what is known of a thing into its folder, whole or not at all."""
        write_whole(place / _FACTS, json.dumps(Kept.to_json(item)))

    def _read(self, place: Path) -> Item | None:
        try:
            facts: dict[str, Any] = json.loads((place / _FACTS).read_text(encoding="utf-8"))
            lists = {name: tuple(each) for name, each in facts.items() if isinstance(each, list)}
            return self.kind(**(facts | lists))
        except (OSError, ValueError, TypeError, AttributeError):
            return None  # being made, being deleted, or left behind by a crash


def _is_of(item: Kept, analyst: str | None) -> bool:
    return analyst in (None, getattr(item, "analyst", None))
