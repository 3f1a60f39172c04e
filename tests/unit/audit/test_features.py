import numpy as np

from discreet.audit.events import Binning
from discreet.audit.features import (
    ABSENT,
    OpenedOutputs,
    as_outputs,
    gathered,
    grain,
    parts_of,
)


def columns(outputs):
    return {part.words: OpenedOutputs(outputs).column(part).tolist() for part in parts_of(outputs)}


def test_numbers_words_and_vectors_have_parts():
    assert [part.view for part in parts_of(np.arange(5))] == ["value"]
    assert [part.view for part in parts_of(np.linspace(0, 1, 5))] == ["value", "grain"]
    views = [part.view for part in parts_of(np.zeros((5, 3), dtype=int))]
    assert views == ["value"] * 3 + ["whole"]
    assert columns(as_outputs(["a", "b"])) == {"the output": ["'a'", "'b'"]}


def test_tables_within_tables_are_opened():
    tables = as_outputs([{"a": 1, "t": {"x": 0.5}}, {"b": "no", "t": {"x": 2.5, "y": [7]}}])
    found = columns(tables)
    assert found["whether 'a' is shown"] == [1, 0]
    assert found["'a'"] == [1.0, ABSENT]
    assert found["'x' of 't'"] == [0.5, 2.5]
    assert found["the lowest bit of 'x' of 't'"] == [-1.0, -1.0]
    assert found["number 0 of 'y' of 't'"] == [ABSENT, 7.0]
    assert found["the length of 'y' of 't'"] == [ABSENT, 1.0]
    assert found["'b'"] == ["nothing", "'no'"]


def test_lengths_that_depend_on_the_input_are_seen():
    vectors = as_outputs([(1, 2), (3,)])
    assert isinstance(vectors, list)
    found = columns(vectors)
    assert found["the length"] == [2.0, 1.0]
    assert found["number 1"] == [2.0, ABSENT]
    assert as_outputs([(1, 2), (3, 4)]).shape == (2, 2)
    assert isinstance(as_outputs([([1], [2, 3])]), list)


def test_calls_whose_outputs_have_other_forms_are_gathered():
    assert gathered([np.arange(2), np.arange(3)]).tolist() == [0, 1, 0, 1, 2]
    mixed = gathered([np.zeros((2, 3)), np.zeros((1, 4)), ["a"]])
    assert len(mixed) == 4
    assert columns(mixed)["the length"] == [3.0, 3.0, 4.0, ABSENT]


def test_a_part_of_a_list_is_found_in_an_array_and_the_other_way():
    listed, array = [(1, 2), (3,)], np.array([[5, 6], [7, 8]])
    part = next(p for p in parts_of(listed) if p.words == "number 1")
    assert OpenedOutputs(array).column(part).tolist() == [6, 8]
    other = parts_of(array)[1]
    assert OpenedOutputs(listed).column(other).tolist() == [2.0, ABSENT]


def test_grain_is_exact_on_every_power_of_two():
    powers = np.array([2.0**k for k in range(-1074, 1024)])
    assert grain(powers).tolist() == list(range(-1074, 1024))
    assert grain(np.array([0.0])).tolist() == [5000.0]
    assert (grain(-powers) == grain(powers)).all()


def test_a_value_that_comes_again_has_a_bin_of_its_own():
    dice = np.random.default_rng(0)
    values = np.concatenate([dice.normal(size=10_000), [0.25] * 8, [np.nan, 1e9]])
    bins = Binning.of(values, dice.normal(size=10_000))
    places = bins.places(values)
    own = places[10_000]
    assert (places == own).sum() == 8
    assert bins.words(np.arange(bins.size) == own) == "is exactly 0.25"
    # Tails are cut finely: the two greatest are not lost among four hundred others.
    assert (places == places[-1]).sum() <= 4
    assert bins.size == len(np.unique(places)) or bins.size > 256


def test_words_beyond_the_commonest_share_a_bin():
    bins = Binning.of(np.array(["a", "b"], dtype=object), np.array(["a"], dtype=object))
    assert bins.places(np.array(["a", "b", "new"], dtype=object)).tolist() == [0, 1, 2]
    assert bins.words(np.array([False, False, True])) == "is another"
    assert (
        Binning.of(np.array([1, 2, 3]), np.array([1])).words(np.array([True, True, True]))
        == "is anything"
    )
