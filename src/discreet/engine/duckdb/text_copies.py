"""Text files as Parquet, once for each content: what the owner's readings of a CSV source are made of."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.engine.duckdb.canonical import SourceOrigin, place_of, unreadable
from discreet.engine.files import ContentHashes, FileSource, plain_files
from discreet.engine.process.child import Child


class TextCopies:
    """The Parquet copies of CSV sources in one folder.

    `setup` says how a child opens one place. `in_place`: the folder goes with its engine, so files are
    read where they lie and told apart by their state, neither copied nor hashed.
    """

    def __init__(
        self,
        folder: Path,
        hashes: ContentHashes,
        setup: Callable[[Any], dict[str, Any]],
        *,
        seconds: float,
        in_place: bool,
    ) -> None:
        self._folder = folder
        self._hashes = hashes
        self._setup = setup
        self._seconds = seconds
        self._in_place = in_place

    def of(self, origin: SourceOrigin) -> Path:
        """Return the Parquet copy of a CSV source, made now unless this content has one."""
        at_once = self._now(origin) if self._in_place else None
        if at_once is not None:
            return at_once
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".new-") as made:
            folder = Path(made)
            content = self._hashes.known(origin.files)
            copy = origin.files
            if content is None or not self._file(content, copy).is_file():
                copy, content = self._hashes.copy(origin.files, folder)
            target = self._file(content, copy)
            if not target.is_file():
                plain = plain_files(copy, folder)
                self._write(origin.name, plain, folder / "text.parquet")
                (folder / "text.parquet").replace(target)
        return target

    def _now(self, origin: SourceOrigin) -> Path | None:
        """Return the Parquet copy made from the files where they lie.

        None where their state cannot be told, or changed meanwhile: then a private copy is needed.
        """
        state = self._hashes.state(origin.files)
        if state is None:
            return None
        target = self._file(state, origin.files)
        if not target.is_file():
            with tempfile.TemporaryDirectory(dir=self._folder, prefix=".new-") as made:
                plain = plain_files(origin.files, Path(made))
                self._write(origin.name, plain, Path(made) / "text.parquet")
                if self._hashes.state(origin.files) != state:
                    return None
                (Path(made) / "text.parquet").replace(target)
        return target

    def _file(self, content: str, files: FileSource) -> Path:
        read = "".join(f"-{word}" for word in (files.encoding, files.part.encode().hex()) if word)
        return self._folder / f"csv-{content}{read}.parquet"

    def _write(self, name: str, copy: FileSource, target: Path) -> None:
        place = place_of(name, copy, ())[0]
        parts = place.get("csv", ())
        child = Child("discreet.engine.duckdb.worker", self._setup(place))
        order = {
            "sql": "SELECT * FROM source.t",
            "path": str(target),
            "typed": True,
            "file": parts[0] if len(parts) == 1 else None,
            "compression": "uncompressed" if self._in_place else "snappy",
        }
        try:
            child.wait_ready(self._seconds)
            child.ask(b"S" + json.dumps(order).encode(), self._seconds)
        except Exception:  # noqa: BLE001 whatever it was, its text may hold a cell
            raise unreadable(name) from None
        finally:
            child.close()
