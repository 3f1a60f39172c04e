"""Re-identification risk: of classes, of a sample of a population; and of any table, with its k, l and t (`--check`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.anonymize.diversity import Diversity, diversity_of, make_histogram
from discreet.anonymize.source import AnonymizeSource
from discreet.base.arrays import Integers
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True, eq=False)
class ClassSizes:
    """Class sizes in ascending order, and how many classes have each of them.

    >>> ClassSizes.of([1, 1, 2, 5]).share_unique
    0.2222222222222222
    """

    sizes: Integers
    classes: Integers

    @classmethod
    def of(cls, each: Any) -> ClassSizes:
        """Return the histogram of a list with the size of every class; empty classes are left out."""
        values = np.asarray(each, dtype=np.int64)
        sizes, classes = np.unique(values[values > 0], return_counts=True)
        return cls(sizes, classes.astype(np.int64))

    @property
    def rows(self) -> int:
        """Return the number of rows in all classes."""
        return int((self.sizes * self.classes).sum())

    @property
    def count(self) -> int:
        """Return the number of classes."""
        return int(self.classes.sum())

    @property
    def k(self) -> int:
        """Return the size of the smallest class, 0 if there is none."""
        return int(self.sizes[0]) if len(self.sizes) else 0

    @property
    def uniques(self) -> int:
        """Return how many rows share their values with no other row."""
        return int(self.classes[0]) if self.k == 1 else 0

    @property
    def share_unique(self) -> float:
        """Return the share of rows that share their values with no other row."""
        return self.uniques / self.rows if self.rows else 0.0

    @property
    def discernibility(self) -> int:
        """Return the sum of squared class sizes; suppressed rows are the caller's to add."""
        # Python's integers: 10^10 rows in one class overflow 64 bits.
        return sum(int(s) ** 2 * int(c) for s, c in zip(self.sizes, self.classes, strict=True))

    @property
    def average(self) -> float:
        """Return the mean class size."""
        return self.rows / self.count if self.count else 0.0


ASSUMED_PART = 0.01
"""The part of a population that a file is taken for where nobody says how large the population is."""
THRESHOLD = 0.2
"""A row counts as at high risk above this: fewer than five people look alike."""


@dataclass(frozen=True, slots=True)
class AgainstIntruder:
    """What one kind of intruder gets right: at the worst row, on average, and rows above 1 in 5."""

    highest: float
    average: float
    rows_above: float


@dataclass(frozen=True, slots=True)
class IntruderRisk:
    """All risks of one table, given how large the population is that its rows come from."""

    share_unique: float
    """The share of rows that nobody else in the file looks like."""
    prosecutor: AgainstIntruder
    journalist: AgainstIntruder
    marketer: float
    population: int
    assumed: bool
    population_uniques: tuple[UniquenessEstimate, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain objects."""
        return {
            "prosecutor": asdict(self.prosecutor),
            "journalist": asdict(self.journalist),
            "marketer": self.marketer,
            "sample_uniques": self.share_unique,
            "population": self.population,
            "population_assumed": self.assumed,
            "population_uniques": {each.name: each.share for each in self.population_uniques},
        }


def risk_of(sizes: ClassSizes, population: int | None = None) -> IntruderRisk:
    """Return the risks of a table with these classes, sampled from `population` people.

    Without a population the table is taken for one row in a hundred of it, and says so.
    """
    rows = sizes.rows
    people = max(rows, round(rows / ASSUMED_PART) if population is None else population)
    part = rows / people if people else 1.0
    return IntruderRisk(
        share_unique=sizes.share_unique,
        prosecutor=_against(sizes, [1 / int(size) for size in sizes.sizes]),
        journalist=_against(sizes, [mean_inverse_size(int(size), part) for size in sizes.sizes]),
        marketer=sizes.count / rows if rows else 0.0,
        population=people,
        assumed=population is None,
        population_uniques=estimates(sizes, people),
    )


def _against(sizes: ClassSizes, chances: list[float]) -> AgainstIntruder:
    """Return the risk where a row in a class of the i-th size is named with the i-th chance."""
    rows = sizes.rows
    if not rows:
        return AgainstIntruder(0.0, 0.0, 0.0)
    held = [int(s) * int(c) for s, c in zip(sizes.sizes, sizes.classes, strict=True)]
    hits = sum(n * chance for n, chance in zip(held, chances, strict=True))
    above = sum(n for n, chance in zip(held, chances, strict=True) if chance > THRESHOLD)
    # A mean is at most the greatest, also after rounding.
    return AgainstIntruder(max(chances), min(max(chances), hits / rows), above / rows)


@dataclass(frozen=True, slots=True)
class UniquenessEstimate:
    """One estimate: the share of rows that are unique in the population; None if there is none."""

    name: str
    share: float | None
    says: str


def estimates(sizes: ClassSizes, population: int) -> tuple[UniquenessEstimate, ...]:
    """Return every estimate of the share of rows that are unique among `population` people.

    The share of the sample's rows and of the population's rows are the same number in expectation:
    each unique person is sampled with the same probability as everybody else.
    """
    part = min(1.0, sizes.rows / max(population, 1))
    found = []
    for name, says, model in MODELS:
        share: float | None = sizes.share_unique
        if sizes.uniques and part < 1:
            share = _guarded(model, sizes, part)
        found.append(UniquenessEstimate(name, share, says))
    return tuple(found)


def _guarded(
    model: Callable[[ClassSizes, float], float], sizes: ClassSizes, part: float
) -> float | None:
    try:
        share = model(sizes, part)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    if not math.isfinite(share):
        return None
    # Who is unique in the population is unique in every sample: no estimate can be above that.
    return min(max(share, 0.0), sizes.share_unique)


def pitman(sizes: ClassSizes, part: float) -> float:
    """Return the estimate by the Ewens-Pitman law of partitions, fitted by maximum likelihood.

    With n rows in u classes the likelihood is prod_{i<u} (t + i a) / prod_{i<n} (t + i) times
    prod over classes of prod_{i<size} (i - a), 0 < a < 1, t > -a. The expected number of uniques
    among N is N G(t + a + N - 1) G(t + 1) / (G(t + a) G(t + N)).
    """
    a, t = pitman_parameters(sizes)
    people = sizes.rows / part
    log_share = math.lgamma(t + a + people - 1) - math.lgamma(t + people)
    return float(math.exp(log_share + math.lgamma(t + 1) - math.lgamma(t + a)))


def pitman_parameters(sizes: ClassSizes) -> tuple[float, float]:
    """Return a and t of the Ewens-Pitman law that makes these class sizes likeliest.

    The next row falls into a class of size s with chance (s - a) / (n + t).
    """
    rows, count = sizes.rows, sizes.count
    each = list(zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True))

    def parameters(point: Point) -> tuple[float, float]:
        a = 1 / (1 + math.exp(-point[0]))
        return a, math.exp(point[1]) - a

    def height(point: Point) -> float:
        a, t = parameters(point)
        if not 0 < a < 1:
            return math.inf
        split = (count - 1) * math.log(a) + math.lgamma(t / a + count) - math.lgamma(t / a + 1)
        whole = math.lgamma(t + rows) - math.lgamma(t + 1)
        inside = sum(c * math.lgamma(s - a) for s, c in each) - count * math.lgamma(1 - a)
        return float(whole - split - inside)

    return parameters(minimize(height, (0.0, math.log(max(count, 2)))))


def zayatz(sizes: ClassSizes, part: float) -> float:
    """Return the estimate that takes the sample's class sizes for the population's.

    By Bayes' rule a sample unique is a population unique with probability
    P(1) h(1) / sum_i P(i) h(i), h(i) the chance that one of i people is drawn.
    """
    rows = sizes.rows
    people = round(rows / part)

    def log_drawn(size: int) -> float:
        if size > people - rows + 1:
            return -math.inf
        return math.log(size) + _log_choose(people - size, rows - 1) - _log_choose(people, rows)

    weights = [
        c * math.exp(log_drawn(s))
        for s, c in zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True)
    ]
    return float(sizes.share_unique * weights[0] / sum(weights))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def slid_negative_binomial(sizes: ClassSizes, part: float) -> float:
    """Return the estimate for classes of 1 + a negative binomial number of people.

    Sampling keeps the one with probability `part` and thins the others, so the sample's sizes are a
    mixture of two shifted negative binomials, seen only where they are not zero.
    """
    each = list(zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True))

    def log_probability(k: int, shape: float, mean: float) -> float:
        log_odds = math.log(mean) - math.log(shape + mean)
        start = shape * (math.log(shape) - math.log(shape + mean))
        return (
            math.lgamma(k + shape) - math.lgamma(shape) - math.lgamma(k + 1) + start + k * log_odds
        )

    def height(point: Point) -> float:
        shape, mean = math.exp(point[0]), math.exp(point[1]) * part
        unseen = (1 - part) * math.exp(log_probability(0, shape, mean))
        total = 0.0
        for size, classes in each:
            one = log_probability(size, shape, mean) + math.log1p(-part)
            two = log_probability(size - 1, shape, mean) + math.log(part)
            high = max(one, two)
            total += classes * (high + math.log(math.exp(one - high) + math.exp(two - high)))
        return sizes.count * math.log1p(-unseen) - total

    start = (0.0, math.log(max(sizes.average - 1, 0.1) / part))
    point = minimize(height, start)
    shape, mean = math.exp(point[0]), math.exp(point[1])
    return float((shape / (shape + mean)) ** shape / (1 + mean))


def benedetti_franconi(sizes: ClassSizes, part: float) -> float:
    """Return the estimate where the unseen people of a class are negative binomial given the seen.

    Of a sample unique: nobody else is there with probability `part`. (The rule of mu-Argus.)
    """
    return sizes.share_unique * part


def mean_inverse_size(size: int, part: float) -> float:
    """Return the expected 1/F of a class with `size` seen rows and F people, by the same rule.

    F - size is negative binomial with `size` successes of probability `part`, so E[1/F] is the
    integral of s^(size-1) (part / (1 - (1 - part) s))^size over s from 0 to 1.
    """
    if part >= 1:
        return 1 / size
    if size == 1:
        return part * -math.log(part) / (1 - part)
    # With w = part s / (1 - (1 - part) s) it is the integral of w^(size-1) / (part + (1-part) w):
    # a series that climbs downwards is unstable, Gauss' rule on a smooth positive function is not.
    total = 0.0
    for node, weight in _NODES:
        w = node ** (1 / size)
        total += weight / size * part / (part + (1 - part) * w)
    return total


_GAUSS, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_NODES = tuple(zip(((_GAUSS + 1) / 2).tolist(), (_WEIGHTS / 2).tolist(), strict=True))

MODELS: tuple[tuple[str, str, Callable[[ClassSizes, float], float]], ...] = (
    ("pitman", "Ewens-Pitman partitions, by maximum likelihood", pitman),
    ("zayatz", "the sample's class sizes taken for the population's", zayatz),
    ("snb", "classes of one plus a negative binomial number of people", slid_negative_binomial),
    ("argus", "unseen people of a class negative binomial given the seen", benedetti_franconi),
)
"""Each estimate: its name, what it assumes, and how it is computed."""


Point: TypeAlias = tuple[float, float]

STEPS = 400
CLOSE = 1e-9
FIRST_STEP = 0.5


def minimize(function: Callable[[Point], float], start: Point) -> Point:
    """Return where `function` is least near `start`; values that are no numbers count as high."""

    def height(point: Point) -> float:
        try:
            found = function(point)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.inf
        return found if math.isfinite(found) else math.inf

    corners = [start, (start[0] + FIRST_STEP, start[1]), (start[0], start[1] + FIRST_STEP)]
    simplex = sorted((height(corner), corner) for corner in corners)
    for _ in range(STEPS):
        if _size(simplex) < CLOSE:
            break
        simplex = sorted(_moved(simplex, height))
    return simplex[0][1]


def _size(simplex: list[tuple[float, Point]]) -> float:
    best = simplex[0][1]
    return max(abs(p[0] - best[0]) + abs(p[1] - best[1]) for _, p in simplex)


def _moved(
    simplex: list[tuple[float, Point]], height: Callable[[Point], float]
) -> list[tuple[float, Point]]:
    best, middle, worst = simplex
    centre = ((best[1][0] + middle[1][0]) / 2, (best[1][1] + middle[1][1]) / 2)

    def at(factor: float) -> tuple[float, Point]:
        point = (
            centre[0] + factor * (worst[1][0] - centre[0]),
            centre[1] + factor * (worst[1][1] - centre[1]),
        )
        return height(point), point

    mirrored = at(-1.0)
    if mirrored[0] < best[0]:
        return [best, middle, min(mirrored, at(-2.0))]
    if mirrored[0] < middle[0]:
        return [best, middle, mirrored]
    inner = at(0.5) if mirrored[0] >= worst[0] else at(-0.5)
    if inner[0] < min(worst[0], mirrored[0]):
        return [best, middle, inner]
    return [best, *(_towards(best[1], point, height) for _, point in (middle, worst))]


def _towards(best: Point, point: Point, height: Callable[[Point], float]) -> tuple[float, Point]:
    half = ((best[0] + point[0]) / 2, (best[1] + point[1]) / 2)
    return height(half), half


NO_GUARANTEE = (
    "This is not a guarantee: it assumes that the adversary knows exactly these columns, once."
)
"""Stands in every output of this package."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTable:
    """What a table looks like to somebody who knows the quasi-identifiers of everybody in it."""

    quasi: tuple[str, ...]
    sizes: ClassSizes
    risk: IntruderRisk
    diversity: tuple[Diversity, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet anonymize --check --json` prints."""
        return {
            "k": self.sizes.k,
            "rows": self.sizes.rows,
            "classes": self.sizes.count,
            "quasi": list(self.quasi),
            "discernibility": self.sizes.discernibility,
            "average_class_size": self.sizes.average,
            "sensitive": {each.column: each.to_json() for each in self.diversity},
            "risk": self.risk.to_json(),
            "says": NO_GUARANTEE,
        }


def measure(
    source: AnonymizeSource,
    quasi: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    population: int | None = None,
) -> MeasuredTable:
    """Return k, l, t and risks of a table; counted by the engine, missing is a value of its own."""
    columns = source.named(quasi)
    if not columns:
        raise InvalidInput(
            "Say which columns an adversary may know, with --quasi.",
            hint="For example --quasi zip,birth_date,sex.",
        )
    others = source.named(sensitive)
    both = [name for name in others if name in columns]
    if both:
        raise InvalidInput(f"'{both[0]}' cannot be quasi-identifier and sensitive at once.")
    if population is not None and population < 1:
        raise InvalidInput("The population must have at least one person.")
    sizes = class_sizes(source, columns)
    return MeasuredTable(
        quasi=columns,
        sizes=sizes,
        risk=risk_of(sizes, population),
        diversity=tuple(_diversity(source, columns, name) for name in others),
    )


def class_sizes(source: AnonymizeSource, quasi: Sequence[str]) -> ClassSizes:
    """Return how many classes there are of each size, by one GROUP BY on the engine."""
    keys = ", ".join(source.cell(name) for name in quasi)
    inner = f"SELECT COUNT(*) AS size FROM {source.relation} GROUP BY {keys}"
    found = source.run(f"SELECT size, COUNT(*) AS n FROM ({inner}) AS classes GROUP BY size")
    size, count = (found.column(name).cast(pa.int64()).to_numpy() for name in ("size", "n"))
    if not len(size):
        source.rows()  # says which rows are missing
    order = np.argsort(size)
    return ClassSizes(size[order].astype(np.int64), count[order].astype(np.int64))


def _diversity(source: AnonymizeSource, quasi: Sequence[str], column: str) -> Diversity:
    keys = ", ".join(source.cell(name) for name in quasi)
    cell = source.cell(column)
    found = source.run(
        f"SELECT DENSE_RANK() OVER (ORDER BY {keys}) AS class, {cell} AS value, COUNT(*) AS n "
        f"FROM {source.relation} GROUP BY {keys}, {cell}"
    )
    values = found.column("value").combine_chunks()
    codes, kinds = order_codes(values)
    classes = found.column("class").cast(pa.int64()).to_numpy() - 1
    rows = found.column("n").cast(pa.int64()).to_numpy()
    whole = np.bincount(codes, weights=rows, minlength=kinds) / rows.sum()
    histogram = make_histogram(classes, codes, rows, classes=int(classes.max()) + 1, whole=whole)
    return diversity_of(column, histogram, ordered=_has_order(values.type))


def order_codes(values: pa.Array) -> tuple[Any, int]:
    """Return each value's place in the order of all, missing last, and how many there are."""
    coded = values.dictionary_encode()
    ranks = np.empty(len(coded.dictionary), dtype=np.int64)
    ranks[np.asarray(pc.array_sort_indices(coded.dictionary))] = np.arange(len(ranks))
    places = np.asarray(coded.indices.fill_null(len(ranks)), dtype=np.int64)
    missing = int(coded.null_count > 0)
    return np.append(ranks, len(ranks))[places], len(ranks) + missing


def _has_order(kind: pa.DataType) -> bool:
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(numbers or pa.types.is_temporal(kind))
