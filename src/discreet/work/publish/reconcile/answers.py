"""reconcile(): answers in hand that contradict each other, made consistent by linear equations.

Equations as people write them: "total = male + female", "2 * (a - b) + 3 = c / 4".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.base.arrays import Floats
from discreet.base.numbers import Number, to_fraction
from discreet.base.packages import needs
from discreet.errors import InternalError, InvalidInput

LONGEST = 1_000_000
DEEPEST = 50
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[^\W\d]\w*(?:\.\w+)*)"""
    r"""|"(?P<quoted>[^"]+)"|(?P<sign>[-+*/=()]))"""
)


@dataclass(frozen=True, slots=True)
class Equation:
    """The sum of `weights` times names equals `constant`; `text` is how it was written.

    While a side is read, the same stands for that sum and a constant beside it.
    """

    text: str
    weights: Mapping[str, Fraction]
    constant: Fraction

    def plus(self, other: Equation, sign: int) -> Equation:
        """Return this and `sign` times the other."""
        weights = dict(self.weights)
        for name, weight in other.weights.items():
            weights[name] = weights.get(name, Fraction(0)) + sign * weight
        return Equation(self.text, weights, self.constant + sign * other.constant)

    def times(self, factor: Fraction) -> Equation:
        """Return `factor` times this."""
        weights = {name: factor * weight for name, weight in self.weights.items()}
        return Equation(self.text, weights, factor * self.constant)


def equation_of(text: str) -> Equation:
    """Return the equation that `text` says; names with other letters stand in double quotes.

    >>> found = equation_of("total = male + 2 female + 1")
    >>> found.constant, {name: int(weight) for name, weight in found.weights.items()}
    (Fraction(1, 1), {'total': 1, 'male': -1, 'female': -2})
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise InvalidInput("An equation must be a text such as 'total = male + female'.")
    sides = _split(_tokens(text), text)
    left, right = (_Reader(side, text).whole() for side in sides)
    moved = left.plus(right, -1)
    weights = {name: weight for name, weight in moved.weights.items() if weight}
    return Equation(text, weights, -moved.constant)


def _bad(text: str, why: str) -> InvalidInput:
    shown = text if len(text) <= 80 else text[:77] + "..."
    return InvalidInput(
        f"The equation '{shown}' cannot be read: {why}.",
        hint="Write sums such as 'total = male + 2 * female + 10'.",
    )


Token = tuple[str, str]


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    place = 0
    while place < len(text.rstrip()):
        match = _TOKEN.match(text, place)
        if match is None:
            raise _bad(text, f"'{text[place:].strip()[:1]}' has no place in it")
        kind = str(match.lastgroup)
        found.append(("name" if kind == "quoted" else kind, match.group(kind)))
        place = match.end()
    return found


def _split(tokens: list[Token], text: str) -> tuple[list[Token], list[Token]]:
    places = [place for place, token in enumerate(tokens) if token == ("sign", "=")]
    if len(places) != 1:
        raise _bad(text, "it needs exactly one '='")
    return tokens[: places[0]], tokens[places[0] + 1 :]


class _Reader:
    """Reads one side: terms with + and -, factors with * and / where one of them is a number."""

    def __init__(self, tokens: list[Token], text: str) -> None:
        self._tokens = tokens
        self._text = text
        self._place = 0
        self._depth = 0

    def whole(self) -> Equation:
        """Return the side; all of it must be read."""
        found = self._sum()
        if self._place < len(self._tokens):
            raise _bad(self._text, f"'{self._tokens[self._place][1]}' was not expected")
        return found

    def _next(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _takes(self, *signs: str) -> str | None:
        token = self._next()
        if token is not None and token[0] == "sign" and token[1] in signs:
            self._place += 1
            return token[1]
        return None

    def _sum(self) -> Equation:
        total = self._product()
        while sign := self._takes("+", "-"):
            total = total.plus(self._product(), 1 if sign == "+" else -1)
        return total

    def _product(self) -> Equation:
        found = self._factor()
        while True:
            if self._takes("/"):
                divisor = self._factor()
                if divisor.weights or not divisor.constant:
                    raise _bad(self._text, "it divides by something that is not a number above 0")
                found = found.times(1 / divisor.constant)
            elif self._takes("*") or self._follows():
                found = self._multiplied(found, self._factor())
            else:
                return found

    def _follows(self) -> bool:
        """Return whether a name or a bracket follows without a sign: 2 a, 2 (a + b)."""
        token, before = self._next(), self._tokens[self._place - 1]
        wanted = token is not None and (token[0] == "name" or token == ("sign", "("))
        return wanted and before[0] == "number"

    def _multiplied(self, one: Equation, two: Equation) -> Equation:
        if one.weights and two.weights:
            raise _bad(self._text, "it multiplies two names, and only sums are linear")
        return two.times(one.constant) if not one.weights else one.times(two.constant)

    def _factor(self) -> Equation:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _bad(self._text, "it is nested too deeply")
        found = self._inner()
        self._depth -= 1
        return found

    def _inner(self) -> Equation:
        if sign := self._takes("+", "-"):
            return self._factor().times(Fraction(1 if sign == "+" else -1))
        if self._takes("("):
            found = self._sum()
            if not self._takes(")"):
                raise _bad(self._text, "a bracket is not closed")
            return found
        token = self._next()
        if token is None or token[0] == "sign":
            raise _bad(self._text, "a number or a name is missing")
        self._place += 1
        if token[0] == "number":
            return Equation(self._text, {}, to_fraction(token[1], name="a number"))
        return Equation(self._text, {token[1]: Fraction(1)}, Fraction(0))


def independent(equations: Iterable[Equation], known: Mapping[str, Fraction]) -> list[Equation]:
    """Return equations that say all there is to say about names that are not `known`.

    Equations that follow from others are left out; one that contradicts them, or what is known
    exactly, is refused. By elimination; all arithmetic is exact.
    """
    pivots: dict[str, tuple[dict[str, Fraction], Fraction]] = {}
    needed = []
    for equation in equations:
        open_ones = _without(equation, known)
        weights, constant = _reduced(dict(open_ones.weights), open_ones.constant, pivots)
        if weights:
            pivot = min(weights, key=lambda name: (name in pivots, len(name), name))
            scale = weights[pivot]
            pivots[pivot] = {n: w / scale for n, w in weights.items()}, constant / scale
            needed.append(open_ones)
        elif constant:
            raise _contradiction(equation, known)
    return needed


def _without(equation: Equation, known: Mapping[str, Fraction]) -> Equation:
    """Return the equation with exact values put in."""
    constant = equation.constant
    weights = {}
    for name, weight in equation.weights.items():
        if name in known:
            constant -= weight * known[name]
        else:
            weights[name] = weight
    return Equation(equation.text, weights, constant)


def _reduced(
    weights: dict[str, Fraction],
    constant: Fraction,
    pivots: Mapping[str, tuple[dict[str, Fraction], Fraction]],
) -> tuple[dict[str, Fraction], Fraction]:
    """Return what is left of an equation after taking out every pivot in it."""
    # A row of an older pivot may hold newer ones, never older: each step goes forward.
    while found := next((name for name in weights if name in pivots), None):
        factor = weights[found]
        row, value = pivots[found]
        for name, weight in row.items():
            left = weights.get(name, Fraction(0)) - factor * weight
            if left:
                weights[name] = left
            else:
                weights.pop(name, None)
        constant -= factor * value
    return weights, constant


def _contradiction(equation: Equation, known: Mapping[str, Fraction]) -> InvalidInput:
    exact = [name for name in equation.weights if name in known]
    beside = " and the values without noise" if exact else ""
    return InvalidInput(
        f"The equation '{equation.text[:80]}' contradicts the others{beside}.",
        hint="Take it away, or give one of its names a variance above 0.",
    )


FEW = 500
"""Up to this many names, plain least squares are solved without scipy."""


def reconcile(
    values: Mapping[str, Number],
    variances: Mapping[str, Number],
    equations: Iterable[str],
    non_negative: bool = False,
    integer: bool = False,
) -> dict[str, float]:
    """Return the values nearest to `values` for which all `equations` hold.

    Each answer weighs by one over its noise variance; a variance of 0 means exact. Nothing private is
    read, so this is free. `integer` finds whole numbers close to that point.

    >>> found = reconcile({"total": 2005, "male": 1001, "female": 995},
    ...     {"total": 8, "male": 50, "female": 32}, ["total = male + female"])
    >>> {name: round(value, 1) for name, value in found.items()}
    {'total': 2004.2, 'male': 1006.0, 'female': 998.2}
    """
    problem = _checked(values, variances, equations)
    _check_exact(problem, lowest=0 if non_negative else None, integer=integer)
    needed = independent(problem.equations, problem.exact)
    names = [name for name in problem.values if name not in problem.exact]
    found: dict[str, float] = {name: float(value) for name, value in problem.exact.items()}
    if names:
        found |= _solved(problem, needed, names, signed=not non_negative, whole=integer)
    if integer:
        whole = {name: round(found[name]) for name in problem.values}
        _require(problem.equations, whole)
        return dict(whole)
    return {name: found[name] for name in problem.values}


@dataclass(frozen=True, slots=True)
class ReconcileProblem:
    """Checked input; `exact` are the values without noise."""

    values: Mapping[str, Fraction]
    variances: Mapping[str, Fraction]
    equations: tuple[Equation, ...]
    exact: Mapping[str, Fraction]


LARGEST = 10**150
"""Of values and variances: products of two of them are still numbers for the solver."""


def _checked(
    values: Mapping[str, Number], variances: Mapping[str, Number], equations: Iterable[str]
) -> ReconcileProblem:
    if not isinstance(values, Mapping) or not isinstance(variances, Mapping):
        raise InvalidInput("Values and variances must say a number for each name.")
    if isinstance(equations, str) or not isinstance(equations, Iterable):
        raise InvalidInput("Equations must be a list of texts such as 'total = male + female'.")
    known = {name: _number(value, f"'{name}'") for name, value in values.items()}
    for name in variances:
        if name not in known:
            raise InvalidInput(f"There is a variance but no value for '{name}'.")
    spread = {}
    for name in known:
        if name not in variances:
            raise InvalidInput(
                f"There is no variance for '{name}'.", hint="Write 0 for a value without noise."
            )
        spread[name] = _number(variances[name], f"the variance of '{name}'")
        if spread[name] < 0:
            raise InvalidInput(f"The variance of '{name}' is below 0.")
    written = tuple(equation_of(text) for text in equations)
    _check_names(written, known)
    exact = {name: known[name] for name in known if not spread[name]}
    return ReconcileProblem(known, spread, written, exact)


def _number(value: Number, name: str) -> Fraction:
    found = to_fraction(value, name=name)
    if abs(found) > LARGEST:
        raise InvalidInput(f"{name} is out of any sensible range.")
    return found


def _check_names(equations: Sequence[Equation], known: Mapping[str, Fraction]) -> None:
    for equation in equations:
        for name in equation.weights:
            if name not in known:
                raise InvalidInput(
                    f"The equation '{equation.text[:80]}' names '{name}', which has no value.",
                    hint=f"The names are {', '.join(list(known)[:10])}.",
                )


def _check_exact(problem: ReconcileProblem, *, lowest: int | None, integer: bool) -> None:
    for name, value in problem.exact.items():
        if lowest is not None and value < lowest:
            raise InvalidInput(f"'{name}' is exact and below 0, so it cannot be made non-negative.")
        if integer and value.denominator != 1:
            raise InvalidInput(f"'{name}' is exact and not whole, so it cannot be an integer.")


def _solved(
    problem: ReconcileProblem,
    needed: list[Equation],
    names: list[str],
    *,
    signed: bool,
    whole: bool,
) -> dict[str, float]:
    near = np.array([float(problem.values[name]) for name in names])
    if not needed:
        point = near if signed else np.maximum(near, 0)
        return dict(zip(names, (np.round(point) if whole else point).tolist(), strict=True))
    variances = np.array([float(problem.variances[name]) for name in names])
    variances = variances / variances.max()  # only their ratios matter
    if signed and not whole and len(names) <= FEW:
        point = _nearest(near, variances, *_matrix(needed, names))
    else:
        point = _sparsely(near, variances, needed, names, signed=signed, whole=whole)
    return dict(zip(names, point.tolist(), strict=True))


def _nearest(near: Floats, variances: Floats, matrix: Floats, b: Floats) -> Floats:
    """Return the closed form x = v - S A' (A S A')^-1 (A v - b), for few names."""
    found = near
    for _ in range(3):  # the later ones take away the rounding of the first
        wrong = np.linalg.solve((matrix * variances) @ matrix.T, matrix @ found - b)
        found = found - variances * (matrix.T @ wrong)
    return found


def _sparsely(
    near: Floats,
    variances: Floats,
    needed: list[Equation],
    names: list[str],
    *,
    signed: bool,
    whole: bool,
) -> Floats:
    """Return the point for many names, or one that is not negative or whole: scipy's work."""
    with needs("scipy", extra="lab"):
        from discreet.work.publish.reconcile.constrained_least_squares import (
            System,
            least_squares,
            non_negative,
            sparse_of,
            whole_numbers,
        )
    system = System(near, variances, sparse_of(*_places(needed, names)), _constants(needed))
    point = least_squares(system) if signed else non_negative(system)
    return whole_numbers(system, point, lowest=-math.inf if signed else 0.0) if whole else point


def _matrix(equations: Sequence[Equation], names: Sequence[str]) -> tuple[Floats, Floats]:
    (rows, columns, weights), shape = _places(equations, names)
    matrix = np.zeros(shape)
    matrix[rows, columns] = weights
    return matrix, _constants(equations)


def _places(
    equations: Sequence[Equation], names: Sequence[str]
) -> tuple[tuple[list[int], list[int], list[float]], tuple[int, int]]:
    place = {name: i for i, name in enumerate(names)}
    rows, columns, weights = [], [], []
    for row, equation in enumerate(equations):
        for name, weight in equation.weights.items():
            rows.append(row)
            columns.append(place[name])
            weights.append(float(weight * _scale(equation)))
    return (rows, columns, weights), (len(equations), len(names))


def _constants(equations: Sequence[Equation]) -> Floats:
    return np.array([float(each.constant * _scale(each)) for each in equations])


def _scale(equation: Equation) -> int:
    # Whole weights: what is solved in whole numbers must not be rounded before.
    parts = [weight.denominator for weight in equation.weights.values()]
    return math.lcm(*parts, equation.constant.denominator)


def _require(equations: Iterable[Equation], found: Mapping[str, int]) -> None:
    for equation in equations:
        total = sum(
            (weight * found[name] for name, weight in equation.weights.items()), Fraction(0)
        )
        if total != equation.constant:
            raise InternalError("whole numbers that do not satisfy an equation were found")
