"""Security test 7: no float decides an outcome. A gate on the source, and a watch at run time."""

import ast
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet.privacy.noise
from discreet.privacy.noise.additive import (
    TableSampler,
    discrete_gaussian_squared,
    discrete_laplace,
    gaussian_sampler,
    geometric_sampler,
)
from discreet.testing.rng import SeededRng

ROOM = Path(discreet.privacy.noise.__file__).parent
SAMPLING = ["rng", "certified", "alias_tables", "additive", "coins", "select"]
WHOLE_NUMBER_MATHS = {"isqrt", "prod", "factorial", "gcd", "lcm", "ceil"}


def floats_in(source):
    """Return what in `source` is, makes or may make a floating-point number or a foreign die."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append(f"line {node.lineno}: {node.value}")
        elif isinstance(node, ast.Div):
            found.append("a true division")
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in {"float", "random", "divide", "true_divide", "mean"} or "float" in name:
                found.append(f"line {node.lineno}: {name}")
            owner = node.value if isinstance(node, ast.Attribute) else None
            if (
                isinstance(owner, ast.Name)
                and owner.id == "math"
                and name not in WHOLE_NUMBER_MATHS
            ):
                found.append(f"line {node.lineno}: math.{name}")
        elif isinstance(node, ast.ImportFrom) and node.module in {"math", "random", "cmath"}:
            found += [a.name for a in node.names if a.name not in WHOLE_NUMBER_MATHS]
        elif isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name in {"random", "cmath", "secrets"}]
    return found


@pytest.mark.parametrize("name", SAMPLING)
def test_sampling_files_hold_no_float(name):
    path = ROOM / f"{name}.py"
    assert floats_in(path.read_text()) == []


@pytest.mark.parametrize(
    "line", ["x = 0.5", "x = a / b", "x = float(a)", "x = np.float64(1)", "from math import exp",
             "import random", "x = math.exp(1)", "x = np.random.default_rng()", "x = a.astype(np.float32)"],
)  # fmt: skip
def test_the_gate_sees_floats(line):
    assert floats_in(line)


class Watched(np.ndarray):
    """An array that refuses to take part in floating-point arithmetic."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = [np.asarray(value) for value in inputs]
        if out is not None:
            options["out"] = tuple(np.asarray(value) for value in out)
        result = getattr(ufunc, method)(*plain, **options)
        for array in (*plain, np.asarray(result)):
            assert array.dtype.kind in "iub", f"{ufunc.__name__} on {array.dtype}"
        return result.view(Watched) if isinstance(result, np.ndarray) else result


class WatchedRng:
    def __init__(self):
        self.rng = SeededRng(1)

    def words(self, count):
        return self.rng.words(count).view(Watched)


def watched(table):
    return replace(table, limits=table.limits.view(Watched), outcomes=table.outcomes.view(Watched))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(50), Fraction(10**6), Fraction(10**12)])
def test_no_float_while_drawing(scale):
    rng = WatchedRng()
    sampler = geometric_sampler(scale)
    sampler = replace(sampler, top=watched(sampler.top), digits=tuple(map(watched, sampler.digits)))
    width = sampler.words_per_draw
    assert isinstance(sampler.laplace(rng.words(5000 * width).reshape(width, 5000), rng), Watched)
    gaussian = gaussian_sampler(scale**2)
    if isinstance(gaussian, TableSampler):
        gaussian = replace(gaussian, table=watched(gaussian.table))
    else:
        gaussian = replace(gaussian, blocks=watched(gaussian.blocks))
    assert gaussian.draw(5000, rng).dtype == np.int64


def test_the_watch_sees_floats():
    words = WatchedRng().words(5)
    with pytest.raises(AssertionError, match="float64"):
        words + np.arange(5, dtype=np.int64)  # numpy's own trap: unsigned plus signed is float


@pytest.mark.parametrize(
    ("law", "scale"),
    [
        (discrete_laplace, "0.7"),
        (discrete_laplace, 10**6),
        (discrete_gaussian_squared, "0.49"),
        (discrete_gaussian_squared, 10**12),
    ],
)
def test_a_million_outputs_lie_on_the_lattice(law, scale, record_property):
    drawn = law(scale, 1_000_000)
    assert drawn.dtype == np.int64
    # Every remainder by a small number occurs: the lattice is the whole numbers, not a coarser one.
    assert len(np.unique(drawn % 4)) == 4
    record_property("draws on the lattice", drawn.size)
