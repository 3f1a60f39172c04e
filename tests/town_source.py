"""Whose rows a made-up read is of: those of a dataset without tables."""

from __future__ import annotations

from discreet.core.schema import Dataset
from discreet.core.unit import Neighbours
from discreet.synth.measure.sealing import SealedSource


def town_source() -> SealedSource:
    return SealedSource(Dataset("town", (), Neighbours.ADD_REMOVE, "town"), ())
