"""A child that stops at one place, after it has written its number into a file, until FILE.go is there.

CHILD_HELD names the place and the file: "before the charge", "charged", "chosen", "stored", or a word of progress.
"""

import os
import time
from pathlib import Path

from discreet.ask.release import outcome
from discreet.privacy.ledger.ledger import Ledger
from discreet.server.jobs import child
from discreet.work.learn import select

WHERE, FILE = os.environ["CHILD_HELD"].split("|")
main = child.main


def stop_here():
    rough = Path(f"{FILE}.part")
    rough.write_text(str(os.getpid()))
    rough.rename(FILE)
    while not Path(f"{FILE}.go").exists():
        time.sleep(0.01)


def _held(place, inner, *, before=False):
    def call(*arguments, **named):
        if before and place == WHERE:
            stop_here()
        found = inner(*arguments, **named)
        if place == WHERE:
            stop_here()
        return found

    return call


def _advance(context, done, of, what):
    _TOLD(context, done, of, what)
    if what == WHERE:
        stop_here()


_TOLD = child.TaskContext.advance
child.TaskContext.advance = _advance
Ledger.charge_all = _held("before the charge", _held("charged", Ledger.charge_all), before=True)
select._chosen = _held("chosen", select._chosen)
outcome._kept = _held("stored", outcome._kept)
