"""The recipes of CONTRIBUTING hold: a toy of each kind is one file and one line, and works everywhere."""

import json
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet.attack import attacks
from discreet.cli import app as commands
from discreet.cli.app import run
from discreet.core.event import Pure
from discreet.core.unit import Neighbours
from discreet.kernel.vector import Norm, VectorSum
from discreet.noise.laws import LaplaceLaw
from discreet.noise.laws import registry as registry_of_laws
from discreet.release.paid_cells import Known
from discreet.synth.methods import registry
from discreet.testing import SeededRng

ATTACK = '''"""Guess heads, always."""
from discreet.attack.outcome import Outcome, Score
from discreet.attack.registry import Attack, Knob

ATTACK = Attack("toy", "A toy", "Guesses heads.", __name__, (Knob("coins", 10, "How many.", 1, 99),))


def run(settings, *, progress):
    score = Score.of_guesses(settings["coins"] // 2, settings["coins"], baseline=0.5)
    return Outcome("toy", "A toy", "Nothing.", "Coins.", "Guessed.", "No lesson.", score, score)
'''
METHOD = '''"""Columns independent, under another name."""
from discreet.synth.methods.independent import fit
'''
COMMAND = '''"""Say a word."""


def toy(word: str) -> None:
    """Say a word."""
    print(word)
'''


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes the one new file of a recipe and puts it on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


def test_an_attack(written, monkeypatch, capsys):
    monkeypatch.setitem(attacks.MODULES, "toy", written("toy_attack", ATTACK))
    assert run(["attack", "toy", "--coins", "20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["success"] == 0.5
    assert run(["attack", "--help"]) == 0
    assert "toy" in capsys.readouterr().out
    assert "toy" in [attack.name for attack in attacks.all_attacks()]


def test_a_synthesis_method(written, monkeypatch, tmp_path, capsys):
    written("toy_method", METHOD)
    from toy_method import fit

    monkeypatch.setitem(registry.METHODS, "toy", registry.Method(fit, "columns independent"))
    source = tmp_path / "rows.csv"
    source.write_text("a,b\n" + "1,x\n2,y\n" * 200)
    out = tmp_path / "copy.csv"
    asked = ["synth", str(source), "--method", "toy", "--epsilon", "1", "--out", str(out)]
    assert run([*asked, "--accept", "--json"]) == 0, capsys.readouterr().err
    assert json.loads(capsys.readouterr().out)["method"] == "toy"
    assert out.read_text().splitlines()[0].replace('"', "") == "a,b"


def test_a_command(written, monkeypatch, capsys):
    monkeypatch.setitem(commands.COMMANDS, "toy", (written("toy_command", COMMAND), "Say a word."))
    assert run(["toy", "hello"]) == 0
    assert capsys.readouterr().out.strip() == "hello"
    assert run(["--help"]) == 0
    assert "Say a word." in capsys.readouterr().out


@dataclass(frozen=True, slots=True)
class ToyLaw(LaplaceLaw):
    """Laplace noise that only claims what any pure mechanism may."""

    name: ClassVar[str] = "toy"

    def event(self, *, l1, l2_squared, coordinates=None):
        return Pure(Fraction(l1()) / self.scale)


def test_a_noise_law(monkeypatch):
    monkeypatch.setitem(registry_of_laws.LAWS, "toy", ToyLaw)
    law = registry_of_laws.law_of("toy", Fraction(3))
    total = VectorSum(size=4, norm=Norm.L1, bound=6, neighbours=Neighbours.ADD_REMOVE)
    assert total.event(law) == Pure(Fraction(2))
    assert total.noisy(np.zeros(4, dtype=np.int64), law, SeededRng(1)).shape == (4,)
    kept = Known("people", "rows", (), 5, law)
    assert Known.from_json(kept.to_json()) == kept
    assert law.half_width("0.95") == LaplaceLaw.of(3).half_width("0.95")
