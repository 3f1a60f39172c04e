"""Rows as small numbers with their unit beside them: for sums of whole vectors, one for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.kernel.codes import SelectedCodes, codes_of
from discreet.kernel.derive.rows import Scans, filtered
from discreet.kernel.trees.nodes import SelectNode, Unfit


def unit_codes_of(select: SelectNode, sizes: Sequence[int], scans: Scans) -> SelectedCodes:
    """Return what a SELECT of the codes c0, c1, ... and of the unit u does, or refuse it.

    Guarantee: that of `SelectedCodes`, and the rows under one value of u are those of one unit. For
        `discreet.kernel.vector` only: a unit's rows become one vector whose length is bounded there.
    """
    *codes, last = select.outputs
    if last[0] != "u" or last[1] not in filtered(select, scans).units:
        raise Unfit("codes without their unit")
    return codes_of(replace(select, outputs=tuple(codes)), sizes, scans)
