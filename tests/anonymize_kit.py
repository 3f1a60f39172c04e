"""Anonymization the slow way: plain Python over rows, to check the arrays against."""

import itertools
import math
from collections import Counter, defaultdict

import pyarrow as pa
from hypothesis import strategies as st

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import Hierarchy, make_ladders
from discreet.anonymize.lattice import ClassEvaluator
from discreet.anonymize.privacy_models import (
    Closeness,
    Conditions,
    Distance,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
)
from discreet.anonymize.registry import COSTS
from discreet.anonymize.search import make_cost

LETTERS = "abcdef"
SECRETS = Hierarchy("s", {"x": ("x", "near", "*"), "y": ("y", "near", "*"), "z": ("z", "z2", "*")})
"""How far apart the sensitive values are where a model asks for it."""


@st.composite
def hierarchies(draw, column):
    """Return a random hierarchy over a few letters; most end in one label."""
    values = list(LETTERS[: draw(st.integers(2, 5))])
    paths = {value: [value] for value in values}
    groups = {value: value for value in values}
    for level in range(draw(st.integers(0, 2))):
        labels = sorted(set(groups.values()))
        merged = {
            label: f"{level}:{draw(st.integers(0, max(0, len(labels) - 2)))}" for label in labels
        }
        groups = {value: merged[label] for value, label in groups.items()}
        for value in values:
            paths[value].append(groups[value])
    if draw(st.integers(0, 9)) > 0:
        for path in paths.values():
            path.append("*")
    return Hierarchy(column, {value: tuple(path) for value, path in paths.items()})


@st.composite
def problems(draw, *, missing=False, most_rows=24):
    """Return random rows (two or three columns and a sensitive one) and their hierarchies."""
    names = ["p", "q", "r"][: draw(st.integers(2, 3))]
    trees = {name: draw(hierarchies(name)) for name in names}
    cells = [st.sampled_from([*trees[name].paths, *([None] if missing else [])]) for name in names]
    rows = draw(st.lists(st.tuples(*cells, st.sampled_from("xyz")), min_size=3, max_size=most_rows))
    return names, trees, rows


def random_problem(dice):
    """Return a problem drawn with `random.Random`: faster than a strategy, and never shrunk."""
    names = ["p", "q", "r"]
    trees = {}
    for name in names:
        values = LETTERS[: dice.randint(2, 5)]
        halves = {value: dice.choice("LR") for value in values}
        trees[name] = Hierarchy(name, {v: (v, halves[v], "*") for v in values})
    rows = [
        (*(dice.choice(list(trees[name].paths)) for name in names), dice.choice("xxxyz"))
        for _ in range(dice.randint(8, 30))
    ]
    return names, trees, rows


def groups_of(names, rows, *, sensitive=True):
    columns = list(zip(*rows, strict=True))
    table = {name: pa.array(columns[i], pa.string()) for i, name in enumerate(names)}
    table["s"] = pa.array(columns[-1], pa.string())
    return group_table(pa.table(table), names, sensitive="s" if sensitive else None)


def labelled(names, trees, levels, row):
    return tuple(
        trees[name].path(value)[level]
        for name, level, value in zip(names, levels, row, strict=False)
    )


def satisfies(model, secrets, everyone):
    """Return whether a class with these sensitive values satisfies a model."""
    counts = Counter(secrets)
    size = len(secrets)
    match model:
        case KAnonymity(k):
            return size >= k
        case DistinctDiversity(l):
            return len(counts) >= l
        case EntropyDiversity(l):
            entropy = -sum(c / size * math.log(c / size) for c in counts.values())
            return entropy >= math.log(l) - 1e-9
        case RecursiveDiversity(c, l):
            ordered = sorted(counts.values(), reverse=True)
            return ordered[0] < c * sum(ordered[l - 1 :])
        case Closeness(t, Distance.EQUAL):
            whole = Counter(everyone)
            return (
                sum(abs(counts[v] / size - whole[v] / len(everyone)) for v in whole) / 2 <= t + 1e-9
            )
        case Closeness(t, Distance.ORDERED):
            whole = Counter(everyone)
            running = total = 0.0
            for value in sorted(whole)[:-1]:
                running += counts[value] / size - whole[value] / len(everyone)
                total += abs(running)
            return total / max(1, len(whole) - 1) <= t + 1e-9
        case Closeness(t, Distance.HIERARCHICAL):
            whole = Counter(everyone)
            extra = {v: counts[v] / size - whole[v] / len(everyone) for v in whole}
            return moved(extra, SECRETS.paths, SECRETS.levels - 1) <= t + 1e-9
    raise AssertionError(model)


def moved(extra, paths, height):
    """Return the cost of moving the extras over a tree, node by node as the paper does."""
    total, below = 0.0, extra
    for level in range(1, height + 1):
        above, up, down = defaultdict(float), defaultdict(float), defaultdict(float)
        for label, amount in below.items():
            parent = next(path[level] for path in paths.values() if path[level - 1] == label)
            above[parent] += amount
            up[parent] += max(0.0, amount)
            down[parent] += max(0.0, -amount)
        total += sum(level / height * min(up[node], down[node]) for node in above)
        below = above
    return total


def kept_classes(names, trees, levels, rows, models):
    """Return the classes of a node that satisfy all models, as lists of row numbers."""
    classes = defaultdict(list)
    for number, row in enumerate(rows):
        classes[labelled(names, trees, levels, row)].append(number)
    everyone = [row[-1] for row in rows]
    return [
        members
        for members in classes.values()
        if all(satisfies(m, [rows[i][-1] for i in members], everyone) for m in models)
    ]


def cost_of(cost, names, trees, levels, rows, classes):
    n = len(rows)
    kept = {i for members in classes for i in members}
    lost = n - len(kept)
    if cost is COSTS["discernibility"]:
        return sum(len(members) ** 2 for members in classes) + n * lost
    if cost is COSTS["classes"]:
        return n / (len(classes) + (lost > 0))
    if cost is COSTS["height"]:
        return sum(levels)
    paid = most = 0.0
    for j, name in enumerate(names):
        leaves = Counter(path[levels[j]] for path in trees[name].paths.values())
        others = max(1, len(trees[name].paths) - 1)
        values = Counter(row[j] for row in rows)
        masses = Counter(labelled(names, trees, levels, row)[j] for row in rows)
        for i, row in enumerate(rows):
            label = labelled(names, trees, levels, row)[j]
            if cost is COSTS["loss"]:
                paid += (leaves[label] - 1) / others if i in kept else 1.0
                most += 1.0
            else:
                cover = masses[label] if i in kept else n
                paid += math.log2(cover / values[row[j]])
                most += math.log2(n / values[row[j]])
    return paid / most if most else 0.0


def best_node(cost, names, trees, rows, models, limit):
    """Return (cost, discernibility, levels) of the cheapest allowed node, or None."""
    heights = [trees[name].levels for name in names]
    found = []
    for levels in itertools.product(*map(range, heights)):
        classes = kept_classes(names, trees, levels, rows, models)
        if len(rows) - sum(map(len, classes)) <= min(limit, len(rows) - 1):
            args = (names, trees, levels, rows, classes)
            found.append(
                (
                    round(cost_of(cost, *args), 9),
                    cost_of(COSTS["discernibility"], *args),
                    levels,
                )
            )
    return min(found, default=None)


def matching_kept(names, trees, levels, rows, k):
    """Return rows that stay where missing values match everything, and how many match each."""
    labels = [
        tuple(
            None if row[j] is None and _several(trees[name], levels[j], rows, j) else label
            for j, (name, label) in enumerate(
                zip(names, labelled(names, trees, levels, row), strict=True)
            )
        )
        for row in rows
    ]
    kept = set(range(len(rows)))
    while True:
        among = {
            i: sum(
                all(
                    a is None or b is None or a == b
                    for a, b in zip(labels[i], labels[o], strict=True)
                )
                for o in kept
            )
            for i in kept
        }
        still = {i for i in kept if among[i] >= k}
        if still == kept:
            return kept, among
        kept = still


def _several(tree, level, rows, j):
    return len({tree.path(row[j])[level] for row in rows}) > 1


MODELS = st.one_of(
    st.just(()),
    st.builds(lambda least: (DistinctDiversity(least),), st.integers(1, 3)),
    st.builds(lambda least: (EntropyDiversity(least),), st.sampled_from([1.0, 1.5, 2.0, 2.5])),
    st.builds(
        lambda c, least: (RecursiveDiversity(c, least),),
        st.sampled_from([0.5, 1.0, 3.0]),
        st.integers(1, 3),
    ),
    st.builds(
        lambda t, d: (Closeness(t, d),), st.sampled_from([0.1, 0.3, 0.5]), st.sampled_from(Distance)
    ),
)


def looks(problem, models, cost, share):
    """Return what every node of a lattice says."""
    names, trees, rows = problem
    groups = groups_of(names, rows)
    ladders = make_ladders(groups, trees)
    measure = make_cost(cost, groups, ladders, {})
    limit = math.floor(share * len(rows))
    evaluator = ClassEvaluator(groups, ladders, Conditions(models), measure, limit=limit)
    nodes = itertools.product(*(range(ladder.levels) for ladder in ladders))
    return [evaluator.evaluate(levels) for levels in nodes]
