"""All methods by name, and all kinds of models by theirs: adding one is adding a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from typing import Any, TypeAlias

from discreet.errors import InvalidInput, MissingExtra
from discreet.synth.methods import (
    adaptive,
    automatic,
    correlated,
    independent,
    random_rows,
    rap,
    tree,
)
from discreet.synth.models.conditional_chain import read_network
from discreet.synth.models.layered import read_layered
from discreet.synth.models.mixture import read_mixture
from discreet.synth.models.model import Model

Fit: TypeAlias = Callable[..., Model]
"""fit(door, *, progress, <options>): all it learns about the rows comes through the door."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to make a model.

    `needs` is a package and the extra that brings it: asked for before anything is paid.
    `groups_bins`: it counts neighbouring bins together where they are mostly noise, so that numbers
    and days may have many.
    """

    fit: Fit
    says: str
    uses_data: bool = True
    needs: tuple[str, str] | None = None
    groups_bins: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Return the settings: the keywords that `fit` takes besides `progress`."""
        found = signature(self.fit).parameters.values()
        return tuple(p.name for p in found if p.kind is p.KEYWORD_ONLY and p.name != "progress")

    @property
    def here(self) -> bool:
        """Return whether the package that it needs is installed."""
        if self.needs is None:
            return True
        try:
            return find_spec(self.needs[0]) is not None
        except (ValueError, ModuleNotFoundError):  # put away on purpose
            return False


METHODS: dict[str, Method] = {
    "auto": Method(
        automatic.fit, "adaptive or independent, by the rows and the price", groups_bins=True
    ),
    "tree": Method(tree.fit, "pairs of columns along a tree; the quickest"),
    "adaptive": Method(
        adaptive.fit,
        "marginals of a workload, chosen where the model is worst; the most precise",
        groups_bins=True,
    ),
    "correlated": Method(correlated.fit, "PrivBayes: each column given a few others"),
    "independent": Method(independent.fit, "noisy histograms, columns independent"),
    "random": Method(random_rows.fit, "uses no data", uses_data=False),
    "rap": Method(
        rap.fit,
        "relaxed rows fitted to the cells they are most wrong about; needs the extra rap",
        needs=("jax", "rap"),
    ),
}
ALIASES = {"mst": "tree", "aim": "adaptive", "privbayes": "correlated"}

READERS: dict[str, Callable[[Mapping[str, Any]], Model]] = {
    "network": read_network,
    "layered": read_layered,
    "mixture": read_mixture,
}
"""From the "kind" in a model's JSON to its reader."""


def find_method(name: str) -> Method:
    """Return the method of that name or alias.

    >>> find_method("mst") is find_method("tree")
    True
    """
    found = METHODS.get(ALIASES.get(name, name))
    if found is None:
        raise InvalidInput(
            f"There is no method '{name}'.", hint=f"Choose one of: {', '.join(METHODS)}."
        )
    return found


def refuse_missing(method: Method) -> None:
    """Refuse a method whose package is not installed."""
    if method.needs is not None and not method.here:
        raise MissingExtra(method.needs[0], extra=method.needs[1])


def read_model(data: Mapping[str, Any]) -> Model:
    """Return the model that `to_json` described, or refuse it with a sentence."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in READERS:
        raise InvalidInput("This is not a model of a kind that is known here.")
    return READERS[kind](data)
