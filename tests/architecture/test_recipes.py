"""The recipes of CONTRIBUTING hold: a toy of each kind is one file and one line, and works everywhere."""

import json
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from discreet.attack import attacks
from discreet.cli import app as commands
from discreet.cli.app import run
from discreet.core.event import Pure
from discreet.core.unit import Neighbours
from discreet.kernel.derive.scalars import value_of
from discreet.kernel.trees.nodes import Apply, Constant, Unfit
from discreet.kernel.vector import Norm, VectorSum
from discreet.noise.laws import LaplaceLaw
from discreet.noise.laws import registry as registry_of_laws
from discreet.release.paid_cells import Known
from discreet.synth.methods import registry
from discreet.testing import SeededRng

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
ATTACK = '''"""Guess heads, always."""
from discreet.attack.outcome import Outcome, Score
from discreet.attack.attacks import Attack, Knob

ATTACK = Attack("toy", "A toy", "Guesses heads.", (Knob("coins", 10, "How many.", 1, 99),))


def run(chosen, *, progress):
    score = Score.of_guesses(chosen.whole("coins") // 2, chosen.whole("coins"), baseline=0.5)
    told = {"knew": "Nothing.", "released": "Coins.", "did": "Guessed.", "lesson": "No lesson."}
    return Outcome(**told, score=score, private=score)
'''
METHOD = '''"""Columns independent, under another name."""
from discreet.synth.methods.independent import fit
'''
COMMAND = '''"""Say a word."""


def toy(word: str) -> None:
    """Say a word."""
    print(word)
'''


# Two rows, before anything else is imported: one that engines compute, one that is put as others.
SCALARS = """
import json, sys
from pathlib import Path
from discreet.kernel.derive.functions import SEALED
from discreet.kernel.derive.row import Applied, ScalarFunction, called
from discreet.kernel.derive.values import integer

SEALED["bit_count"] = ScalarFunction(
    written=("BIT_COUNT(x)",),
    takes="number",
    gives="number",
    compute=lambda value: int(value).bit_count(),
    sql={"duckdb": called("bit_count")},
    between=(0, 64),
    applied={"bit_count": Applied(lambda found, _term: found[0].bounded and integer(0, 64, wide=False), (1,))},
)

from discreet.plan import expr as e
from discreet.plan.functions.row import PlannedFunction
from discreet.plan.functions.rows import PLANNED

PLANNED["triple"] = PlannedFunction(
    written=("TRIPLE(x)",),
    takes="number",
    gives="number",
    compute=lambda value: 3 * value,
    rewritten=lambda operand: e.Arithmetic(e.Operator.MULTIPLY, operand, e.Literal(3)),
)

import discreet
from discreet.errors import QueryRefused

sys.path.insert(0, sys.argv[2])
import reference

with discreet.open(Path(sys.argv[1])) as curator:

    def asked(sql):
        return curator.query(sql, epsilon="1000000000").rows  # noise of 0

    large = asked("SELECT SUM(BIT_COUNT(x)) AS bits, SUM(TRIPLE(x)) AS three FROM numbers")
    small = asked("SELECT SUM(BIT_COUNT(s)) AS bits, SUM(TRIPLE(s)) AS three FROM numbers")
    after = asked("SELECT TRIPLE(COUNT(*)) AS three, BIT_COUNT(COUNT(*)) AS bits FROM numbers")
    try:
        refused = asked("SELECT SUM(QUADRUPLE(x)) AS four FROM numbers")
    except QueryRefused as declined:
        refused = declined.construct
print(json.dumps([large, small, after, refused, reference.functions_table()], default=str))
"""
NUMBERS = """
[datasets.numbers]
epsilon = 10000000000
[datasets.numbers.tables.numbers]
source = "numbers.csv"
unit = "row"
[datasets.numbers.tables.numbers.columns]
x = { type = "integer", lower = 0, upper = 1000000 }
s = { type = "integer", lower = 0, upper = 9 }
"""


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
    toy = registry.Method(written("toy_method", METHOD), "columns independent")
    monkeypatch.setitem(registry.METHODS, "toy", toy)
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


def test_a_scalar_function(tmp_path):
    """One row each: parsed, bound, bounded, sealed, run by DuckDB and by Python, and in the docs."""
    rows = [(number, number % 10) for number in range(0, 1_000_000, 9973)]
    lines = "".join(f"{x},{s}\n" for x, s in rows)
    (tmp_path / "numbers.csv").write_text("x,s\n" + lines)
    (tmp_path / "discreet.toml").write_text(NUMBERS)
    command = [sys.executable, "-c", SCALARS, str(tmp_path / "discreet.toml"), str(SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    large, small, after, refused, table = json.loads(done.stdout)

    def expected(values):
        return [sum(value.bit_count() for value in values), 3 * sum(values)]

    assert list(map(int, large[0])) == expected([x for x, _ in rows])
    assert list(map(int, small[0])) == expected([s for _, s in rows])
    assert list(map(int, after[0])) == [3 * len(rows), len(rows).bit_count()]
    assert refused == "function"
    with pytest.raises(Unfit):  # here the row was not added, and the kernel does not know the name
        value_of(Apply("bit_count", (Constant(1),)), {})
    assert "`BIT_COUNT(x)`" in table
    assert "`TRIPLE(x)`" in table.splitlines()[2], "it works over any number of values"
