"""Replace-one neighbours: a person moves from one point to another, so pairs of points are billed."""

from __future__ import annotations

from discreet.core.region import Region
from discreet.ledger.worst.grid import Box, Signed

BEFORE, AFTER = "<", ">"
"""Each axis is there twice: where the person was, and where the replacement is."""


def single(region: Region) -> Signed:
    """Return the boxes that bill a charge once to every point of `region`."""
    return ((1, dict(region.axes)),)


def either(region: Region) -> Signed:
    """Return the boxes that bill a charge once to every pair with a point in `region`.

    Guarantee: [x or y in B] = [x in B] + [y in B] - [x in B][y in B], term by term.
    """
    before, after = _side(region, BEFORE), _side(region, AFTER)
    return ((1, before), (1, after), (-1, {**before, **after}))


def _side(region: Region, side: str) -> Box:
    return {side + name: positions for name, positions in region.axes}
