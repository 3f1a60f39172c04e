from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.base.schema import BooleanDomain, CategoryDomain, IntegerDomain, NumberDomain
from discreet.errors import InvalidInput
from discreet.lab.attacks.files import declaration, people_of, read_rows
from discreet.lab.attacks.membership.scores import mean_interval, student_quantile


def test_domains_are_read_off_the_file():
    table = pa.table(
        {
            "id": [f"p{i}" for i in range(300)],
            "age": [str(i % 90) for i in range(300)],
            "weight": [None if i == 5 else 50 + i / 7 for i in range(300)],
            "sick": [i % 3 == 0 for i in range(300)],
            "same": ["x"] * 300,
            "job": pa.array(["a", "b", None] * 100).dictionary_encode(),
        }
    )
    found = people_of(table)
    kinds = {name: type(domain) for name, domain in found.domains.items()}
    assert kinds == {
        "age": IntegerDomain,
        "weight": NumberDomain,
        "sick": BooleanDomain,
        "job": CategoryDomain,
    }
    said = found.declared()
    assert said["age"] == {"type": "integer", "lower": 0, "upper": 89, "missing": True}
    assert said["weight"]["step"] == Fraction("0.01")
    assert said["job"] == {"type": "category", "values": ("a", "b"), "missing": True}
    assert declaration(BooleanDomain()) == {"type": "boolean", "missing": True}
    with pytest.raises(InvalidInput, match="one value only"):
        people_of(table, ["same"])
    with pytest.raises(InvalidInput, match="No column"):
        people_of(table.select(["same"]))


def test_a_file_that_is_not_there():
    with pytest.raises(InvalidInput, match="no file"):
        people_of(read_rows("nowhere.csv"))


def test_students_law():
    for freedom, wanted in ((1, 12.7062), (2, 4.3027), (5, 2.5706), (30, 2.0423)):
        assert student_quantile(0.975, freedom) == pytest.approx(wanted, abs=1e-4)
    import numpy as np

    assert mean_interval(np.array([1.0, 1.0])) == (1.0, 1.0, 1.0)
