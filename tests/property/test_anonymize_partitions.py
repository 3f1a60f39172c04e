"""Mondrian and local recoding: every class satisfies the models, and every label covers its rows."""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonymize_kit import MODELS, groups_of, labelled, problems, satisfies
from discreet.anonymize.classes import SUPPRESSED
from discreet.anonymize.groups import group_table
from discreet.anonymize.privacy_models import Distance, KAnonymity
from discreet.anonymize.registry import COSTS
from discreet.anonymize.search import AnonymizeMethod, anonymize
from discreet.errors import InvalidInput
from sittings import examples

METHODS = st.sampled_from(
    [AnonymizeMethod.MONDRIAN, AnonymizeMethod.RELAXED, AnonymizeMethod.LOCAL]
)


def _check_rows_add_up(groups, recoding):
    given_rows = np.bincount(recoding.combination, weights=recoding.rows)
    assert given_rows.tolist() == groups.rows.tolist()
    assert (recoding.rows > 0).all()


def _classes(groups, recoding):
    """Return by class the sensitive values and the combinations of its rows."""
    secrets, members = defaultdict(Counter), defaultdict(set)
    beside = groups.sensitive
    for combination, code, klass, rows in zip(
        recoding.combination, recoding.sensitive, recoding.klass, recoding.rows, strict=True
    ):
        members[int(klass)].add(int(combination))
        if code >= 0:
            secrets[int(klass)][int(code)] += int(rows)
        else:
            for i in np.flatnonzero(beside.group == combination):
                secrets[int(klass)][int(beside.codes[i])] += int(beside.rows[i])
    return secrets, members


@given(problems(most_rows=40), MODELS, st.integers(1, 4), METHODS, st.sampled_from([0.0, 0.3]))
@settings(max_examples=examples(80), deadline=None)
def test_classes_satisfy_the_models(problem, models, k, method, suppress):
    # By a hierarchy of the sensitive column: tests/property/test_anonymize_search.py
    assume(all(getattr(model, "distance", None) is not Distance.HIERARCHICAL for model in models))
    names, trees, rows = problem
    groups = groups_of(names, rows)
    everyone = [groups.sensitive.values.index(row[-1]) for row in rows]
    try:
        found = anonymize(groups, trees, k=k, models=models, method=method, suppress=suppress)
    except InvalidInput:
        return
    recoding = found.recoding
    _check_rows_add_up(groups, recoding)
    secrets, members = _classes(groups, recoding)
    if (
        models or method is AnonymizeMethod.LOCAL
    ):  # relaxed cuts divide combinations without their secrets
        for klass, counts in secrets.items():
            if klass != SUPPRESSED:
                values = list(counts.elements())
                assert all(satisfies(m, values, everyone) for m in (KAnonymity(k), *models))
    assert recoding.sizes.min() >= k
    assert found.suppressed <= suppress * len(rows)
    texts = [recoding.texts(j) for j in range(len(names))]
    seen = list(zip(*texts, strict=True))
    assert len(set(seen)) == len(seen), "two classes read the same"
    _check_labels_cover(groups, names, trees, members, seen)
    assert 0 <= found.costs.loss <= 1 + 1e-9
    assert 0 <= found.costs.entropy <= 1 + 1e-9


def _check_labels_cover(groups, names, trees, members, seen):
    for klass, combinations in members.items():
        for i in () if klass == SUPPRESSED else combinations:
            row = [groups.values[j][groups.codes[j, i]] for j in range(len(names))]
            for j, name in enumerate(names):
                path = trees[name].path(row[j])
                assert seen[klass][j] in path or path[-1] in seen[klass][j].split(" or ")


@given(problems(most_rows=40), st.integers(1, 4), st.sampled_from([0.0, 0.3]))
@settings(max_examples=examples(40), deadline=None)
def test_local_recoding_is_never_coarser_than_where_it_starts(problem, k, suppress):
    names, trees, rows = problem
    groups = groups_of(names, rows)
    call = {"k": k, "suppress": suppress, "cost": COSTS["loss"]}
    try:
        start = anonymize(groups, trees, **call)
    except InvalidInput:
        return
    found = anonymize(groups, trees, method=AnonymizeMethod.LOCAL, **call)
    assert found.costs.loss <= start.costs.loss + 1e-9
    assert found.suppressed <= start.suppressed
    levels = tuple(start.levels.values())
    for i, klass in enumerate(found.recoding.klass):
        if klass == SUPPRESSED or start.recoding.klass[i] == SUPPRESSED:
            continue
        row = [groups.values[j][groups.codes[j, i]] for j in range(len(names))]
        coarse = labelled(names, trees, levels, row)
        for j, name in enumerate(names):
            path = trees[name].path(row[j])
            text = found.recoding.texts(j)[klass]
            assert path.index(text) <= max(x for x, p in enumerate(path) if p == coarse[j])


NUMBERS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-9, 30)), st.integers(0, 5)), min_size=4, max_size=80
)


@given(NUMBERS, st.integers(2, 4), st.booleans())
@settings(max_examples=examples(50), deadline=None)
def test_numbers_read_as_ranges_that_hold_them(rows, k, relaxed):
    table = pa.table(
        {
            "x": pa.array([x for x, _ in rows], pa.int64()),
            "y": pa.array([y for _, y in rows], pa.int64()),
        }
    )
    groups = group_table(table, ["x", "y"])
    method = AnonymizeMethod.RELAXED if relaxed else AnonymizeMethod.MONDRIAN
    found = anonymize(groups, {}, k=k, method=method)
    _check_rows_add_up(groups, found.recoding)
    assert found.recoding.sizes.min() >= k
    for combination, klass in zip(found.recoding.combination, found.recoding.klass, strict=True):
        for j in (0, 1):
            value = groups.values[j][groups.codes[j, combination]]
            assert _inside(value, found.recoding.texts(j)[klass])


def _inside(value, text):
    if value is None:
        return text == "" or text.endswith(" or missing")
    low, high = _ends(text.removesuffix(" or missing"))
    return low <= value <= high


def _ends(text):
    if " to " in text:
        low, high = text.split(" to ")
    elif "-" in text[1:]:
        low, high = text.split("-")
    else:
        low = high = text
    return int(low), int(high)


def test_a_strict_cut_keeps_equal_values_together_and_a_relaxed_one_does_not():
    table = pa.table({"x": pa.array([1] * 7 + [2] * 5, pa.int64())})
    groups = group_table(table, ["x"])
    strict = anonymize(groups, {}, k=2, method=AnonymizeMethod.MONDRIAN).recoding
    assert sorted(zip(strict.texts(0), strict.sizes.tolist(), strict=True)) == [("1", 7), ("2", 5)]
    relaxed = anonymize(groups, {}, k=2, method=AnonymizeMethod.RELAXED).recoding
    assert sorted(zip(relaxed.texts(0), relaxed.sizes.tolist(), strict=True)) == [
        ("1", 6),
        ("1-2", 3),
        ("2", 3),
    ]
    assert len(relaxed.combination) > 2, "a combination was divided"
