"""Who runs which test when several workers share the suite: files whole, and all of Spark in one place.

A Spark session takes ten seconds of two cores to start, so one worker has it and the others never do. What
takes long begins first: a long file that began last would be waited for by everybody.

With DISCREET_SHUFFLE=SEED the files come in another order, so that one which leaves something behind for the next
one is found: `DISCREET_SHUFFLE=1 pytest -n 3 --dist loadfile -m "not slow" tests`.
"""

from __future__ import annotations

import os
import random

from xdist.scheduler import LoadFileScheduling

LONG_FIRST = ("spark", "tests/browser/", "tests/end_to_end/", "tests/contract/", "tests/docs/")


class Turns(LoadFileScheduling):
    """Files in their turn; `--no-loadscope-reorder` is implied."""

    def __init__(self, config, log=None):
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid):
        return "spark" if "spark" in nodeid.lower() else super()._split_scope(nodeid)


def turn(nodeid):
    """Return the place of a test in the queue."""
    if seed := os.environ.get("DISCREET_SHUFFLE"):
        return random.Random(seed + nodeid.partition("::")[0]).random()
    found = [i for i, word in enumerate(LONG_FIRST) if word in nodeid.lower()]
    return found[0] if found else len(LONG_FIRST)
