"""The list of attacks: every one has its story, its knobs and its place."""

import pytest

from discreet.errors import UnknownName
from discreet.lab.attacks.attacks import MODULES, AttackSettings, all_attacks, attack_named

CONTRACT = {
    "linkage",
    "netflix",
    "intersection",
    "differencing",
    "reconstruction",
    "refusals",
    "membership",
}
"""Names that the command promises; `inversion` comes with private learning."""


def test_the_contract_is_kept():
    assert set(MODULES) >= CONTRACT


@pytest.mark.parametrize("name", MODULES)
def test_an_attack_says_what_it_is_and_has_sound_knobs(name):
    attack = attack_named(name)
    assert attack.name == name
    assert attack.title
    assert attack.words.endswith(".")
    names = [knob.name for knob in attack.knobs]
    assert len(set(names)) == len(names)
    assert not {"report", "as_json", "json"} & set(names), "the command uses these itself"
    for knob in attack.knobs:
        assert knob.words
        if knob.choices:
            assert knob.default in knob.choices
        if not isinstance(knob.default, str):
            assert (knob.low is None) == (knob.high is None), "a slider has two ends"
    AttackSettings.of(attack.knobs, {})  # the defaults lie within their own limits
    for knob in attack.knobs:
        AttackSettings.of(attack.knobs, {knob.name: knob.default})


def test_a_wrong_name_is_told_which_there_are():
    with pytest.raises(UnknownName, match="differencing"):
        attack_named("nothing")
    assert [attack.name for attack in all_attacks()] == list(MODULES)
