"""Refusals: a sentence, and what to write instead."""

import re

import pytest

from discreet.ask.sql.refuse import SENTENCES, refusal


@pytest.mark.parametrize("construct", sorted(SENTENCES))
def test_every_refusal_is_a_sentence_with_advice(construct):
    facts = {"what": "X", "where": "X", "tables": "X", "unit": "X"}
    found = refusal(construct, **facts)
    assert found.construct == construct
    assert found.message.endswith(".")
    assert found.hint.endswith((".", ")"))
    assert not re.search(r"[{}]", str(found))
    assert found.message[0].isupper() or found.message[0] == "'"
