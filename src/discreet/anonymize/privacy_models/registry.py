"""All privacy models by name: adding one is adding a file and a line here.

Words and names only: a model's own file is imported when it is used, so that help texts are quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.core.requests.fields import one_of
from discreet.errors import InvalidInput

if TYPE_CHECKING:
    from discreet.anonymize.privacy_models.model import PrivacyModel
    from discreet.core.requests.unpaid import LocalAnonymizeFields


DIVERSITY = "--l L"


@dataclass(frozen=True, slots=True)
class NamedPrivacyModel:
    """One privacy model: a sentence for people, and the module of its `asked(fields)`.

    That returns the `PrivacyModel` that a request asks for, or None. `option`: how a command asks for it. Of
    those that go by `--l`, the field `diversity` names the one.
    """

    home: str
    words: str
    option: str = DIVERSITY


PRIVACY_MODELS: dict[str, NamedPrivacyModel] = {
    "k": NamedPrivacyModel(
        "discreet.anonymize.privacy_models.k_anonymity", "At least K rows.", "--k K"
    ),
    "distinct": NamedPrivacyModel(
        "discreet.anonymize.privacy_models.distinct",
        "At least L different sensitive values.",
    ),
    "entropy": NamedPrivacyModel(
        "discreet.anonymize.privacy_models.entropy",
        "Sensitive values as uncertain as L equally likely ones.",
    ),
    "recursive": NamedPrivacyModel(
        "discreet.anonymize.privacy_models.recursive",
        "The most frequent value rarer than `--c` times all from the L-th on.",
    ),
    "closeness": NamedPrivacyModel(
        "discreet.anonymize.privacy_models.closeness",
        "Sensitive values distributed as in the whole table, up to T (t-closeness).",
        option="--t T",
    ),
}


def diversities() -> list[str]:
    """Return the models of which `diversity` names one."""
    return [name for name, each in PRIVACY_MODELS.items() if each.option == DIVERSITY]


def choices() -> dict[str, dict[str, Any]]:
    """Return what the names here say in the fields of a request."""
    return {"diversity": {"help": f"What --l counts: {one_of(diversities())}"}}


def models_asked(fields: LocalAnonymizeFields) -> tuple[PrivacyModel, ...]:
    """Return the models that a request asks for, k-anonymity first."""
    several = diversities()
    if fields.diversity not in several:
        known = " or ".join(several)
        raise InvalidInput(f"--diversity is {known}, not '{fields.diversity[:40]}'.")
    found = (
        import_module(each.home).asked(fields)
        for name, each in PRIVACY_MODELS.items()
        if name == fields.diversity or name not in several
    )
    return tuple(model for model in found if model is not None)
