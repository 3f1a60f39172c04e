"""The list of attacks: each name, and the module that holds it."""

from __future__ import annotations

from importlib import import_module

from discreet.attack.registry import Attack
from discreet.errors import UnknownName

MODULES = {
    "linkage": "discreet.attack.linkage",
    "netflix": "discreet.attack.netflix",
    "intersection": "discreet.attack.intersection",
    "homogeneity": "discreet.attack.homogeneity",
    "differencing": "discreet.attack.differencing",
    "reconstruction": "discreet.attack.reconstruction",
    "census": "discreet.attack.census",
    "refusals": "discreet.attack.refusals",
    "membership": "discreet.attack.membership",
    "averaging": "discreet.attack.averaging",
    "singling-out": "discreet.attack.singling_out",
    "linkability": "discreet.attack.linkability",
    "inference": "discreet.attack.inference",
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
