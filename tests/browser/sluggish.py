"""A slow machine on purpose: with DISCREET_SLUGGISH=SEED every answer comes late, by dice.

A test that asserts what a script only changes later passes on a fast machine and fails on a slow
one. With late answers it fails here: `DISCREET_SLUGGISH=1 pytest -m browser tests/browser`.
"""

import asyncio
import os
import random

SEED = os.environ.get("DISCREET_SLUGGISH", "")
LATE = {"/api/": 1.2, "/static/": 0.1}
"""The longest delay by the beginning of a path, in seconds."""
OTHER = 0.4


def sluggish(app):
    """Return `app` behind delays drawn from the seed, or `app` itself where none is given."""
    if not SEED:
        return app
    dice = random.Random(SEED)

    async def late(scope, receive, send):
        if scope["type"] == "http":
            longest = next(
                (s for start, s in LATE.items() if scope["path"].startswith(start)), OTHER
            )
            await asyncio.sleep(dice.uniform(0, longest))
        await app(scope, receive, send)

    return late
