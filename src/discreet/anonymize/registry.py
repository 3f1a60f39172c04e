"""All costs and all privacy models by name: adding one is adding a class and a line here.

Words and names only: the files with their classes are imported when they are used, so that help texts are quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from discreet.base.requests.fields import one_of
from discreet.errors import InvalidInput

if TYPE_CHECKING:
    from discreet.anonymize.costs import CostModel, RecodedCopy
    from discreet.anonymize.groups import Groups
    from discreet.anonymize.hierarchy import ColumnLevels
    from discreet.anonymize.privacy_models import PrivacyModel
    from discreet.base.requests.unpaid import LocalAnonymizeFields


@dataclass(frozen=True, slots=True)
class GeneralisationCost:
    """What is made as small as possible; `value` is its name, `words` what it is, for people.

    `home`: the class (module:Class) or module of its `model(groups, ladders, weights)`, a `CostModel` for the search, and its
    `measured(copy)`, what a `RecodedCopy` costs. `shown_as`: what results call that, if not by its name.
    `weighted`: whether columns may have weights.
    """

    value: str
    home: str
    words: str
    shown_as: str = ""
    weighted: bool = True

    @property
    def shown(self) -> str:
        """Return what results call the number."""
        return self.shown_as or self.value

    def model(
        self, groups: Groups, ladders: Sequence[ColumnLevels], weights: Sequence[float]
    ) -> CostModel:
        """Return the measure, ready for the lattice of these ladders."""
        found: CostModel = resolve_name(self.home).model(groups, ladders, weights)
        return found

    def measured(self, copy: RecodedCopy) -> float | None:
        """Return what a copy costs; None where that is not defined."""
        found: float | None = resolve_name(self.home).measured(copy)
        return found


COSTS: dict[str, GeneralisationCost] = {
    each.value: each
    for each in (
        GeneralisationCost(
            "discernibility",
            "discreet.anonymize.costs:Discernibility",
            "Sum of squared class sizes, and n for each row left out.",
            weighted=False,
        ),
        GeneralisationCost("height", "discreet.anonymize.costs:Height", "Sum of levels."),
        GeneralisationCost(
            "classes",
            "discreet.anonymize.costs:AverageClass",
            "Average class size, the rows left out counted as one class.",
            shown_as="average_class_size",
            weighted=False,
        ),
        GeneralisationCost(
            "loss",
            "discreet.anonymize.costs:LossCost",
            "Share of its column's values that a cell may stand for.",
        ),
        GeneralisationCost(
            "entropy", "discreet.anonymize.costs:EntropyCost", "Share of bits lost."
        ),
    )
}


def cost_choices() -> dict[str, dict[str, Any]]:
    """Return what the names here say in the fields of a request."""
    return {"cost": {"help": f"What is kept small: {', '.join(COSTS)}."}}


DIVERSITY = "--l L"


@dataclass(frozen=True, slots=True)
class NamedPrivacyModel:
    """One privacy model: a sentence for people, and the class (module:Class) or module of its `asked(fields)`.

    That returns the `PrivacyModel` that a request asks for, or None. `option`: how a command asks for it. Of
    those that go by `--l`, the field `diversity` names the one.
    """

    home: str
    words: str
    option: str = DIVERSITY


PRIVACY_MODELS: dict[str, NamedPrivacyModel] = {
    "k": NamedPrivacyModel(
        "discreet.anonymize.privacy_models:KAnonymity", "At least K rows.", "--k K"
    ),
    "distinct": NamedPrivacyModel(
        "discreet.anonymize.privacy_models:DistinctDiversity",
        "At least L different sensitive values.",
    ),
    "entropy": NamedPrivacyModel(
        "discreet.anonymize.privacy_models:EntropyDiversity",
        "Sensitive values as uncertain as L equally likely ones.",
    ),
    "recursive": NamedPrivacyModel(
        "discreet.anonymize.privacy_models:RecursiveDiversity",
        "The most frequent value rarer than `--c` times all from the L-th on.",
    ),
    "closeness": NamedPrivacyModel(
        "discreet.anonymize.privacy_models:Closeness",
        "Sensitive values distributed as in the whole table, up to T (t-closeness).",
        option="--t T",
    ),
}


def diversities() -> list[str]:
    """Return the models of which `diversity` names one."""
    return [name for name, each in PRIVACY_MODELS.items() if each.option == DIVERSITY]


def model_choices() -> dict[str, dict[str, Any]]:
    """Return what the names here say in the fields of a request."""
    return {"diversity": {"help": f"What --l counts: {one_of(diversities())}"}}


def models_asked(fields: LocalAnonymizeFields) -> tuple[PrivacyModel, ...]:
    """Return the models that a request asks for, k-anonymity first."""
    several = diversities()
    if fields.diversity not in several:
        known = " or ".join(several)
        raise InvalidInput(f"--diversity is {known}, not '{fields.diversity[:40]}'.")
    found = (
        resolve_name(each.home).asked(fields)
        for name, each in PRIVACY_MODELS.items()
        if name == fields.diversity or name not in several
    )
    return tuple(model for model in found if model is not None)
