"""What the child process of a release does (rehearse, or charge, measure and sign), and where drafts lie."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from discreet.base.files import write_whole
from discreet.errors import InvalidInput, UnknownName
from discreet.server.bodies import finite
from discreet.server.jobs.child import TaskContext
from discreet.show import to_fragment
from discreet.work.publish.specification import Spec, parse_spec

FOLDER = "drafts"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MOST = 200
"""Drafts that are kept."""


class Drafts:
    """The folder of specs; safe to share among threads.

    Guarantee: no name that a caller chose becomes a path unless it is a plain word, and a spec is
    there whole or not at all.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def keep(self, spec: Spec) -> None:
        """Keep a draft; an older one of the same name is replaced, its pictures forgotten."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = self._folder / f"{spec.name}.toml"
        if not there.exists() and len(list(self._folder.glob("*.toml"))) >= MOST:
            raise InvalidInput(f"There are {MOST} drafts already.", hint="Release or remove some.")
        if not there.exists() or there.read_text(encoding="utf-8") != spec.text:
            write_whole(self._folder / f"{spec.name}.toml", spec.text)
            (self._folder / f"{spec.name}.part").unlink(missing_ok=True)

    def keep_pictures(self, name: str, markup: str) -> None:
        """Keep the pictures of a rehearsal: markup that we made, every text escaped."""
        write_whole(self._folder / f"{name}.part", markup)

    def text(self, name: str) -> str | None:
        """Return the spec of a draft as it was written, if there is one."""
        return self._read(name, "toml")

    def pictures(self, name: str) -> str:
        """Return the pictures of its last rehearsal."""
        return self._read(name, "part") or ""

    def spec(self, name: str, base: Path) -> Spec:
        """Return a draft."""
        text = self.text(name)
        if text is None:
            raise UnknownName(f"There is no draft '{name[:64]}' on this server.")
        return read_text(text, base, state=self._folder.parent)

    def _read(self, name: str, ending: str) -> str | None:
        if not NAME.fullmatch(name):
            return None
        try:
            return (self._folder / f"{name}.{ending}").read_text(encoding="utf-8")
        except OSError:
            return None


def read_text(text: str, base: Path, *, state: Path) -> Spec:
    """Return the release that a text from the page describes; its files lie beside discreet.toml."""
    spec = parse_spec(text, base=base)
    for fact in spec.facts:
        if fact.file is not None:
            place = (base / fact.file).resolve()
            inside = place.is_relative_to(base.resolve())
            kept = place.is_relative_to(state.resolve())
            if not inside or kept or Path(fact.file).is_absolute():
                raise InvalidInput(
                    "The file of an exact fact must lie in the folder of discreet.toml, and not be "
                    "the server's own."
                )
    return spec


def rehearse(context: TaskContext, *, state: Path, text: str, who: str) -> dict[str, Any]:
    """Return what a release would look like on made-up rows: free, reads no private row."""
    curator, drafts = context.curator(), Drafts(state)
    spec = read_text(text, curator.catalog.base, state=state)
    context.advance(0, 2, "planning and making up rows")
    found = curator.rehearse_release(spec, who=who)
    drafts.keep(spec)
    context.advance(1, 2, "drawing pictures")
    drafts.keep_pictures(spec.name, to_fragment(found.document()))
    return finite(found.to_json())


def release(context: TaskContext, *, state: Path, text: str, who: str) -> dict[str, Any]:
    """Return a release: charged once, then the same package for ever."""
    curator = context.curator()
    spec = read_text(text, curator.catalog.base, state=state)
    return finite(curator.publish(spec, who=who, progress=context.advance).to_json())
