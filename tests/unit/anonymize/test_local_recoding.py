import pyarrow as pa

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.privacy_models import DistinctDiversity
from discreet.anonymize.search import AnonymizeMethod, anonymize

TREE = Hierarchy("x", {v: (v, p, "*") for v, p in (("a", "1"), ("b", "1"), ("c", "2"), ("d", "2"))})


def _read(result):
    return dict(zip(result.recoding.texts(0), result.recoding.sizes.tolist(), strict=True))


def test_classes_that_can_be_finer_are():
    """a and b are frequent, c and d are not: one level for all would be too coarse."""
    groups = group_table(pa.table({"x": list("aaabbbcd")}), ["x"])
    assert _read(anonymize(groups, {"x": TREE}, k=2)) == {"1": 6, "2": 2}
    assert _read(anonymize(groups, {"x": TREE}, k=2, method=AnonymizeMethod.LOCAL)) == {
        "a": 3,
        "b": 3,
        "2": 2,
    }


def test_suppressed_rows_become_a_class_where_they_may():
    groups = group_table(pa.table({"x": list("aaaaabbbbbcd")}), ["x"])
    start = anonymize(groups, {"x": TREE}, k=2, suppress=0.2)
    assert (start.suppressed, start.levels) == (2, {"x": 0})
    found = anonymize(groups, {"x": TREE}, k=2, suppress=0.2, method=AnonymizeMethod.LOCAL)
    assert _read(found) == {"a": 5, "b": 5, "2": 2}
    alone = group_table(pa.table({"x": list("aaaaabbbbbc")}), ["x"])
    found = anonymize(alone, {"x": TREE}, k=2, suppress=0.2, method=AnonymizeMethod.LOCAL)
    assert found.suppressed == 1, "one row is no class"


def test_a_part_that_breaks_a_model_keeps_the_class_together():
    table = pa.table({"x": list("aabb"), "s": list("pqpp")})
    groups = group_table(table, ["x"], sensitive="s")
    found = anonymize(
        groups, {"x": TREE}, k=2, models=[DistinctDiversity(2)], method=AnonymizeMethod.LOCAL
    )
    assert _read(found) == {"1": 4}
