"""The page of the attacks: a section for each, with a word on each of its options."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fences import ROOT

from discreet.lab.attacks.attacks import MODULES, attack_named

PAGE = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
HEAD = PAGE.split("\n## ", 1)[0]
REFERENCE = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")


def section(name, page=PAGE, mark="## "):
    for part in page.split(f"\n{mark}")[1:]:
        title, _, body = part.partition("\n")
        if name in [word.strip() for word in title.split(",")]:
            return body
    return ""


@pytest.mark.parametrize("name", MODULES)
def test_every_option_has_its_words(name):
    body = section(name) or section(f"discreet attack {name}", REFERENCE, "### ")
    missing = [
        knob.name
        for knob in attack_named(name).knobs
        if f"--{knob.name.replace('_', '-')}" not in HEAD + body
    ]
    assert not missing
    assert f"| `{name}` |" in HEAD


def test_a_new_attack_may_begin_without_a_section():
    assert sum(bool(section(name)) for name in MODULES) >= 18


def test_options_that_do_not_exist_would_be_seen():
    assert "--no-such-option" not in PAGE
    assert section("no such attack") == ""
