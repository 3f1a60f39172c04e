"""Exhaustion: one pot is emptied for everybody, shares hold."""

import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import attack_named

SMALL = {"people": 60, "questions": 4, "at_once": 2}


def test_one_pot_is_emptied_and_a_share_is_not_on_a_file_of_your_own(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("ill\n" + "yes\nno\n" * 20)
    found = attack_named("exhaustion").run(SMALL | {"original": str(file), "secret": "ill"})
    pot, shares = found.details["one pot for all"], found.details["a share for each"]
    assert found.score.success == 1.0
    assert pot["refused"] == 4
    assert found.private.success == 0.0
    assert shares["refused"] == 0
    assert 0 < shares["attacker_answered"] < shares["attacker_asked"]


def test_a_server_needs_a_question_and_a_token(monkeypatch):
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    with pytest.raises(InvalidInput, match="what to ask"):
        attack_named("exhaustion").run({"server": "http://127.0.0.1:1"})
    with pytest.raises(InvalidInput, match="DISCREET_TOKEN"):
        attack_named("exhaustion").run({"server": "http://127.0.0.1:1", "ask": "SELECT 1"})
