"""Who is in a region, one point after the other: the oracle of what the ledger works out over whole boxes."""


def contains(region, point):
    """Return whether a unit at `point` can be read by a release of `region`."""
    return all(point[name] in positions for name, positions in region.axes)
