"""The planting of mistakes: one at a time, each still Python, the same ones for the same seed."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def mutants():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "scripts" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


def test_every_mutant_of_a_module_is_one_change_that_parses(mutants):
    path = ROOT / "src" / "discreet" / "noise" / "threshold.py"
    text = path.read_text(encoding="utf-8")
    found = list(mutants.mutants_of("noise", path))
    assert len(found) > 10
    for mutant in found:
        made = mutants.changed(text, mutant)
        assert made != text
        assert ast.dump(ast.parse(made)) != ast.dump(ast.parse(text))


def test_the_seed_alone_decides(mutants):
    assert mutants.drawn("noise", 20, 1) == mutants.drawn("noise", 20, 1)
    assert mutants.drawn("noise", 20, 1) != mutants.drawn("noise", 20, 2)
    assert mutants.drawn("noise", 10, 1) == mutants.drawn("noise", 20, 1)[:10]


def test_the_kinds_of_mistakes(mutants):
    def now(code):
        return {changed for _, changed in mutants._changes(ast.parse(code))}

    assert "a <= b" in now("x = a < b")
    assert "(a - b)" in now("x = a + b")
    assert "((a) or (b))" in now("x = a and b")
    assert "not (a)" in now("if a:\n    x = y")
    assert "pass" in now("raise E()")
    assert "2" in now("x = 1")


def test_outcomes_are_of_rooms_that_there_are(mutants):
    for each in mutants.read():
        assert each["mutant"]["room"] in mutants.TESTS
        assert each["killed"] == bool(each["by"])


def test_the_interval_holds_the_share(mutants):
    low, high = mutants.interval(17, 20)
    assert low < 17 / 20 < high < 1
    assert mutants.interval(20, 20)[1] == pytest.approx(1)
