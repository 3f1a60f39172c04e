"""Both attacks against a server that runs: the client's way in, tokens from the environment."""

import pytest

from discreet.lab.attacks.attacks import attack_named
from discreet.privacy.noise.error_bars import lower_limit
from server_kit import running, write_world

SHARES = """
[analysts.alice]
datasets = { census = { epsilon = 1 } }
[analysts.bob]
datasets = { census = { epsilon = 1 } }
"""
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    config = write_world(tmp_path_factory.mktemp("world"), rows=200, epsilon="2", analysts=SHARES)
    with running(config) as server:
        yield server


def test_a_share_holds_against_another_analyst(served, monkeypatch):
    monkeypatch.setenv("DISCREET_TOKEN", served.token("analyst", "bob"))
    monkeypatch.setenv("DISCREET_OTHER_TOKEN", served.token("analyst", "alice"))
    settings = {"server": served.url, "ask": COUNT, "questions": 4, "epsilon": 2.0}
    found = attack_named("exhaustion").run(settings | {"at_once": 2})
    assert found.private.success == 0.0
    (siege,) = found.details.values()
    assert 0 < siege["attacker_answered"] < siege["attacker_asked"]


def test_refusals_take_no_time_that_tells(served, monkeypatch):
    """By now nothing is left, so every question is refused: 40 fair coins, accused below 1e-9."""
    monkeypatch.setenv("DISCREET_TOKEN", served.token("analyst", "bob"))
    asked = {"ask": f"{COUNT} WHERE age = 17", "other": f"{COUNT} WHERE age = 18"}
    found = attack_named("timing").run(
        {"server": served.url, "targets": 80, "times": 1, "epsilon": 2.0} | asked
    )
    assert lower_limit(round(found.score.success * 40), 40, 1e-9) <= 0.5
    assert lower_limit(40, 40, 1e-9) > 0.5, "a clock that tells would be caught"
    assert found.score == found.private
