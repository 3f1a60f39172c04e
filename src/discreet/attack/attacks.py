"""The list of attacks: each name, and the module that holds it."""

from __future__ import annotations

from importlib import import_module

from discreet.attack.registry import Attack
from discreet.errors import UnknownName

MODULES = {
    "linkage": "discreet.attack.linkage.linkage",
    "netflix": "discreet.attack.ratings.netflix",
    "intersection": "discreet.attack.classes.intersection",
    "homogeneity": "discreet.attack.classes.homogeneity",
    "differencing": "discreet.attack.counts.differencing",
    "reconstruction": "discreet.attack.counts.reconstruction",
    "census": "discreet.attack.counts.census",
    "refusals": "discreet.attack.counts.refusals",
    "uniqueness": "discreet.attack.uniqueness.uniqueness",
    "membership": "discreet.attack.membership.membership",
    "inversion": "discreet.attack.inversion.inversion",
    "timing": "discreet.attack.service.timing",
    "exhaustion": "discreet.attack.service.exhaustion",
    "floating-point": "discreet.attack.floating_point",
    "averaging": "discreet.attack.averaging",
    "singling-out": "discreet.attack.release_risk.singling_out",
    "linkability": "discreet.attack.release_risk.linkability",
    "inference": "discreet.attack.release_risk.inference",
}
"""In the order in which a class meets them."""


def attack_named(name: str) -> Attack:
    """Return the attack of this name; only its own module is imported."""
    if name not in MODULES:
        raise UnknownName(f"There is no attack '{name}'.", hint=f"There are: {', '.join(MODULES)}.")
    found: Attack = import_module(MODULES[name]).ATTACK
    return found


def all_attacks() -> tuple[Attack, ...]:
    """Return every attack, in the order of the list."""
    return tuple(attack_named(name) for name in MODULES)
