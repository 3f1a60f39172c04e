import pyarrow as pa
import pytest

from discreet.anonymize.groups import group_table
from discreet.anonymize.privacy_models import Closeness, DistinctDiversity
from discreet.anonymize.search import AnonymizeMethod, anonymize
from discreet.errors import InvalidInput

# A grid of 8 x 8 points, the sensitive value a function of the side.
GRID = pa.table(
    {
        "x": [i // 8 for i in range(64)],
        "y": [i % 8 for i in range(64)],
        "s": ["left" if i // 8 < 4 else "right" for i in range(64)],
    }
)


def _shape(result):
    return sorted(zip(result.recoding.texts(0), result.recoding.texts(1), strict=True))


def test_a_grid_is_cut_into_equal_boxes():
    found = anonymize(group_table(GRID, ["x", "y"]), {}, k=4, method=AnonymizeMethod.MONDRIAN)
    assert found.recoding.sizes.tolist() == [4] * 16
    assert ("0-1", "0-1") in _shape(found)


def test_weights_say_which_column_is_cut_first():
    groups = group_table(GRID, ["x", "y"])
    call = {"k": 16, "method": AnonymizeMethod.MONDRIAN}
    assert ("0-1", "0-7") in _shape(anonymize(groups, {}, weights={"y": 0.1}, **call))
    assert ("0-7", "0-1") in _shape(anonymize(groups, {}, weights={"x": 0.0}, **call))


@pytest.mark.parametrize("method", [AnonymizeMethod.MONDRIAN, AnonymizeMethod.RELAXED])
def test_cuts_that_break_a_model_are_not_made(method):
    """A cut through x separates the sensitive values at once, so only y is cut."""
    groups = group_table(GRID, ["x", "y"], sensitive="s")
    for model in (DistinctDiversity(2), Closeness(0.1)):
        found = anonymize(groups, {}, k=4, models=[model], method=method)
        assert {text for text, _ in _shape(found)} == {"0-7"}
        assert found.classes == 8
        assert set(found.recoding.sensitive.tolist()) == {0, 1}


@pytest.mark.parametrize("method", [AnonymizeMethod.MONDRIAN, AnonymizeMethod.RELAXED])
def test_missing_values_are_cut_off_first(method):
    table = pa.table({"x": pa.array([1, 2, 3, 4, None, None], pa.int64()), "s": list("ababaa")})
    found = anonymize(group_table(table, ["x"]), {}, k=2, method=method)
    assert sorted(found.recoding.texts(0)) == ["", "1-2", "3-4"]
    diverse = group_table(table, ["x"], sensitive="s")
    found = anonymize(diverse, {}, k=2, models=[DistinctDiversity(2)], method=method)
    assert sum(text.endswith("or missing") for text in found.recoding.texts(0)) == 1


def test_the_whole_table_must_be_allowed():
    groups = group_table(GRID, ["x", "y"], sensitive="s")
    with pytest.raises(InvalidInput, match="whole table as one class"):
        anonymize(groups, {}, k=4, models=[DistinctDiversity(3)], method=AnonymizeMethod.RELAXED)
