import pytest

from discreet.anonymize.privacy_models import (
    Closeness,
    Distance,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
)
from discreet.anonymize.registry import COSTS
from discreet.anonymize.run import AnonymizeRequest
from discreet.errors import InvalidInput

GOOD = {"k": 5, "quasi": ["zip"], "sensitive": "ill"}


@pytest.mark.parametrize(
    ("more", "models"),
    [
        ({}, ()),
        ({"l": 3}, (DistinctDiversity(3),)),
        ({"l": 2.5, "diversity": "entropy"}, (EntropyDiversity(2.5),)),
        ({"l": 3, "diversity": "recursive", "c": 4.0}, (RecursiveDiversity(4.0, 3),)),
        ({"l": 2, "t": 0.2}, (DistinctDiversity(2), Closeness(0.2))),
        ({"t": 0.2, "distance": "ordered"}, (Closeness(0.2, Distance.ORDERED),)),
    ],
)
def test_models_follow_the_options(more, models):
    assert AnonymizeRequest.of(**GOOD, **more).models == models


def test_weights_are_read():
    assert AnonymizeRequest.of(**GOOD, weights="age=2, a=b=0.5").weights == {"age": 2.0, "a=b": 0.5}
    assert AnonymizeRequest.of(**GOOD, cost="loss").cost is COSTS["loss"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"k": None}, "--k"),
        ({"k": 0}, "at least 1"),
        ({"quasi": []}, "--quasi"),
        ({"sensitive": None, "l": 2}, "--sensitive"),
        ({"l": 2.5}, "whole number"),
        ({"l": float("nan")}, "whole number"),
        ({"l": float("inf")}, "whole number"),
        ({"diversity": "rainbow"}, "distinct or entropy"),
        ({"cost": "money"}, "cannot be 'money'"),
        ({"method": "magic"}, "cannot be 'magic'"),
        ({"missing": "maybe"}, "cannot be 'maybe'"),
        ({"weights": "age"}, "COLUMN=NUMBER"),
        ({"weights": "age=much"}, "COLUMN=NUMBER"),
        ({"population": 0}, "at least one person"),
        ({"t": 3.0}, "between 0 and 1"),
        ({"distance": "ordered"}, "give --t"),
        ({"t": 0.2, "distance": "far"}, "cannot be 'far'"),
    ],
)
def test_what_makes_no_sense_is_said(more, said):
    with pytest.raises(InvalidInput, match=said):
        AnonymizeRequest.of(**(GOOD | more))
