"""Whose rows a made-up read is of: those of a dataset without tables."""

from __future__ import annotations

from discreet.base.schema import Dataset
from discreet.base.unit import Neighbours
from discreet.measure.sealing import SealedSource


def town_source() -> SealedSource:
    return SealedSource(Dataset("town", (), Neighbours.ADD_REMOVE, "town"), ())
