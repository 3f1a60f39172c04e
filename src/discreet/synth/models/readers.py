"""All kinds of models by their names, read from JSON: adding one is adding a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.errors import InvalidInput
from discreet.synth.models.conditional_chain import read_network
from discreet.synth.models.layered import read_layered
from discreet.synth.models.mixture import read_mixture
from discreet.synth.models.model import Model

READERS: dict[str, Callable[[Mapping[str, Any]], Model]] = {
    "network": read_network,
    "layered": read_layered,
    "mixture": read_mixture,
}
"""From the "kind" in a model's JSON to its reader."""


def read_model(data: Mapping[str, Any]) -> Model:
    """Return the model that `to_json` described, or refuse it with a sentence."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in READERS:
        raise InvalidInput("This is not a model of a kind that is known here.")
    return READERS[kind](data)
