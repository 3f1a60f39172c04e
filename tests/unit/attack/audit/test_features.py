import numpy as np

from discreet.attack.audit.features import as_outputs, column, grain, parts_of


def test_numbers_words_vectors_and_tables_have_parts():
    assert [part.view for part in parts_of(np.arange(5))] == ["value"]
    assert [part.view for part in parts_of(np.linspace(0, 1, 5))] == ["value", "grain"]
    assert len(parts_of(np.zeros((5, 3), dtype=int))) == 3
    words = as_outputs(["a", "b"])
    assert column(words, parts_of(words)[0]).tolist() == ["'a'", "'b'"]
    tables = as_outputs([{"a": 1}, {"b": 2}])
    assert [part.words for part in parts_of(tables)][:2] == [
        "whether 'a' is shown",
        "whether 'b' is shown",
    ]
    assert column(tables, parts_of(tables)[0]).tolist() == [1, 0]


def test_vectors_of_one_length_become_columns_and_others_text():
    assert as_outputs([(1, 2), (3, 4)]).shape == (2, 2)
    assert isinstance(as_outputs([(1, 2), (3,)]), list)


def test_grain_is_exact_on_every_power_of_two():
    powers = np.array([2.0**k for k in range(-1074, 1024)])
    assert grain(powers).tolist() == list(range(-1074, 1024))
    assert grain(np.array([0.0])).tolist() == [5000.0]
    assert (grain(-powers) == grain(powers)).all()
