"""A batch in JSON is counted before it is parsed: what does not fit a survey never becomes objects."""

import json

import pytest

from discreet.errors import InvalidInput
from discreet.server.features.survey import collector
from discreet.server.features.survey.collector import batch_of, json_of
from discreet.survey.donation_checks import MOST

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


@pytest.mark.parametrize("name", list(TWIN))
@pytest.mark.parametrize("batch", [False, True])
def test_a_name_twice_is_refused_in_a_report_and_in_a_batch(name, batch):
    once = json.dumps(TWIN)
    twice = f'{once[:-1]}, "{name}": {json.dumps(TWIN[name])}}}'
    read = (
        (lambda body: batch_of(f"[{once}, {body}]".encode(), answers=2))
        if batch
        else (lambda body: json_of(body.encode()))
    )
    assert read(once) == ([TWIN, TWIN] if batch else TWIN)
    assert json.loads(twice) == TWIN  # what Python's own reader makes of it
    with pytest.raises(InvalidInput, match="name twice"):
        read(twice)
