"""All methods by name: adding one is adding a file and a line here.

Words and names only: a method's own file is imported when it is used, so that help texts are quick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.base.requests.fields import one_of
from discreet.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from discreet.work.synth.models.model import Model


Fit: TypeAlias = "Callable[..., Model]"
"""fit(marginals, *, progress, <options>): all it learns about the rows comes through `marginals`."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to make a model.

    `home`: the module of its `fit`. `says`: a few words for programs; `words`: a sentence or two for people.
    `needs` is a package and the extra that brings it: asked for before anything is paid.
    `groups_bins`: it counts neighbouring bins together where they are mostly noise, so that numbers
    and days may have many. `slow`: it is not fitted a second time, for a rehearsal or among several, unless
    somebody asks for that.
    """

    home: str
    says: str
    words: str = ""
    uses_data: bool = True
    needs: tuple[str, str] | None = None
    groups_bins: bool = False
    slow: bool = False

    @property
    def fit(self) -> Fit:
        """Return the function that makes a model; its module is imported for it."""
        found: Fit = import_module(self.home).fit
        return found

    @property
    def sentence(self) -> str:
        """Return the words for people."""
        return self.words or f"{self.says}."

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
        "discreet.work.synth.methods.automatic",
        "adaptive or independent, by the rows and the price",
        "Counts the rows, then takes what suits them and the price. The best for most tables.",
        groups_bins=True,
        slow=True,
    ),
    "tree": Method(
        "discreet.work.synth.methods.tree",
        "pairs of columns along a tree; the quickest",
        "Measures pairs of columns along a tree. The quickest.",
    ),
    "adaptive": Method(
        "discreet.work.synth.methods.adaptive",
        "marginals of a workload, chosen where the model is worst; the most precise",
        "Measures what it gets wrong, round by round. Better, and takes minutes.",
        groups_bins=True,
        slow=True,
    ),
    "correlated": Method(
        "discreet.work.synth.methods.correlated",
        "PrivBayes: each column given a few others",
        "Each column given a few others (PrivBayes).",
    ),
    "independent": Method(
        "discreet.work.synth.methods.independent",
        "noisy histograms, columns independent",
        "Each column by itself: keeps no dependence between columns.",
    ),
    "random": Method(
        "discreet.work.synth.methods.random_rows",
        "uses no data",
        "Reads no data at all: right types, wrong numbers. Free.",
        uses_data=False,
    ),
    "rap": Method(
        "discreet.work.synth.methods.rap",
        "relaxed rows fitted to the cells they are most wrong about; needs the extra rap",
        "Fits a relaxed table by gradient descent. Named in a US patent: see the docs.",
        needs=("jax", "rap"),
        slow=True,
    ),
}
ALIASES = {"mst": "tree", "aim": "adaptive", "privbayes": "correlated"}


def choices() -> dict[str, dict[str, Any]]:
    """Return what the names here say in the fields of a request."""
    return {"method": {"help": one_of(METHODS)}}


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


def is_slow(name: str) -> bool:
    """Return whether the method of that name is slow; one that is not here is not."""
    found = METHODS.get(ALIASES.get(name, name))
    return found is not None and found.slow


def refuse_missing(method: Method) -> None:
    """Refuse a method whose package is not installed."""
    if method.needs is not None and not method.here:
        raise MissingExtra(method.needs[0], extra=method.needs[1])


def check_whole(method: str, **settings: object) -> None:
    """Refuse a setting that is not a whole number of at least 1.

    >>> check_whole("rap", rounds=3)
    """
    for name, value in settings.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InvalidInput(
                f"The setting '{name}' of {method} must be a whole number, at least 1."
            )
