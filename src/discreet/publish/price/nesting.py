"""Which member of a family refines which: its cells then say something about the coarser one's."""

from __future__ import annotations

import numpy as np

from discreet.publish.families.atoms import Codes
from discreet.publish.families.find import Member


def refines(fine: Member, coarse: Member) -> bool:
    """Return whether every cell of `coarse` is a sum of whole cells of `fine`."""
    pairs = zip(fine.maps, coarse.maps, strict=True)
    return all(_refines_along(one, two) for one, two in pairs)


def _refines_along(fine: Codes, coarse: Codes) -> bool:
    inside = coarse >= 0
    if (fine[inside] < 0).any():
        return False
    used = np.isin(fine, fine[inside])
    # Each class that is used lies in one class of the coarser member, as a whole.
    classes, first = np.unique(fine[used], return_index=True)
    owner = coarse[used][first]
    return bool((coarse[used] == owner[np.searchsorted(classes, fine[used])]).all())


def parts_along(fine: Codes, coarse: Codes, size: int) -> Codes:
    """Return for each class of `coarse` how many classes of `fine` it is made of."""
    inside = coarse >= 0
    pairs = np.unique(np.stack([coarse[inside], fine[inside]]), axis=1)
    return np.bincount(pairs[0], minlength=size)


def mean_parts(fine: Member, coarse: Member) -> float:
    """Return how many cells of `fine` make up one of `coarse`, on average."""
    found = 1.0
    for one, two, size in zip(fine.maps, coarse.maps, coarse.shape, strict=True):
        found *= float(parts_along(one, two, size).mean())
    return found
