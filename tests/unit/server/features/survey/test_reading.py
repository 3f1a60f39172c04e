"""A batch in JSON is counted before it is parsed: what does not fit a survey never becomes objects."""

import json

import pytest

from discreet.errors import InvalidInput
from discreet.server.features.survey import collector
from discreet.server.features.survey.collector import batch_of
from discreet.survey.collect.batch import MOST

TWIN = {"version": 1, "survey": "00" * 16, "id": "00" * 16, "reports": [1, None]}


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"[]," * MOST + b"[]]",
        b"[" + b"{}," * MOST + b"{}]",
        b"[" + b"1," * (MOST * 6 + 1) + b"1]",
        b"[[[[]]]]",
        b"[" * 60_000,
        b'[{"version": {"a": [1]}}]',
    ],
    ids=["lists", "objects", "numbers", "nested", "deep", "an object inside"],
)
def test_what_no_batch_has_is_not_parsed(body, monkeypatch):
    parsed = []
    monkeypatch.setattr(collector, "json_of", parsed.append)
    with pytest.raises(InvalidInput):
        batch_of(body, answers=2)
    assert parsed == []


def test_a_full_batch_is_parsed():
    whole = [TWIN] * MOST
    assert batch_of(json.dumps(whole).encode(), answers=2) == whole
