"""What is kept of a survey beside its reports: which one it is, since when it is open, and until when."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core.system.atomic_file import disk_is_full, write_in_place, write_whole
from discreet.errors import InvalidInput

FILE = "state.json"
_DAY = 86_400


def today() -> int:
    """Return the day, counted from 1970-01-01 in UTC as devices count it."""
    return int(time.time() // _DAY)


@dataclass(frozen=True, slots=True)
class SurveyState:
    """The survey's id and nonce, the day it began, the day it was closed (-1: it is open), and its wave.

    Wave 0: it began before there were waves.
    """

    id: str
    nonce: str
    begun: int
    ended: int = -1
    wave: int = 0

    @property
    def closed(self) -> bool:
        """Return whether no more donations are taken."""
        return self.ended >= 0

    @property
    def days(self) -> int:
        """Return on how many days the survey was open so far."""
        return 1 + max(0, (self.ended if self.closed else today()) - self.begun)

    def closing(self) -> SurveyState:
        """Return the state of a survey that was closed: today, or earlier."""
        return self if self.closed else replace(self, ended=max(today(), self.begun))

    def write(self, folder: Path) -> None:
        """Replace the file at once, so that nobody reads half of it; on a full disk write over it.

        Guarantee: closing a survey needs no room. The new text lies in the block of the old one, on
            file systems that write in place (not those that copy each block they write).
        """
        content = json.dumps(asdict(self)).encode()
        try:
            write_whole(folder / FILE, content, durable=True)
        except OSError as error:
            if not disk_is_full(error) or not (folder / FILE).exists():
                raise
            write_in_place(folder / FILE, content)


def read_state(folder: Path) -> SurveyState:
    """Return the state that a survey's folder holds, or refuse a damaged one with a sentence."""
    try:
        stated: Any = json.loads((folder / FILE).read_text(encoding="utf-8"))
        found = SurveyState(**stated)
    except (OSError, ValueError, TypeError, RecursionError):
        raise _damaged(folder) from None
    whole = all(type(each) is int for each in (found.begun, found.ended, found.wave))
    if not whole or not isinstance(found.id, str) or not isinstance(found.nonce, str):
        raise _damaged(folder)
    return found


def _damaged(folder: Path) -> InvalidInput:
    return InvalidInput(
        f"The file '{FILE}' of the survey '{folder.name}' is damaged.",
        hint="Put it back from a copy, or begin a new survey.",
    )
