"""Two servers, one PostgreSQL ledger, a proxy; one of them killed again and again under load."""

import pytest

from postgres_server import postgres_server, postgres_url  # noqa: F401  # fixtures
from two_servers_kit import Seen, rounds, wrong


def held(found, record_property, *, kills, allowed):
    seen, mistakes, hit = found
    assert mistakes == []
    assert hit > kills // 2, "kills meet servers under load"
    assert len(seen.answers) + len(seen.lost) == allowed, (
        "what is allowed is granted, no more, no less"
    )
    assert seen.refused > 0
    record_property("kills of a server under load", hit)
    record_property("acknowledged answers, each found again on both servers", len(seen.answers))
    record_property("requests sent again", seen.resent)
    record_property("lost for good after their charge", len(seen.lost))


@pytest.mark.postgres
def test_a_killed_server_spends_nothing_twice_and_loses_no_answer(
    tmp_path,
    postgres_url,  # noqa: F811
    record_property,
):
    found = rounds(tmp_path, postgres_url, kills=2, allowed=20)
    held(found, record_property, kills=2, allowed=20)


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_forty_kills(tmp_path, postgres_url, record_property):  # noqa: F811
    found = rounds(tmp_path, postgres_url, kills=40, allowed=2000)
    held(found, record_property, kills=40, allowed=2000)


@pytest.mark.parametrize(
    ("charges", "stored", "said"),
    [
        (["a", "b"], {"a": [1]}, None),
        (["a", "a", "b"], {"a": [1]}, "charged twice"),
        (["a", "b", "c"], {"a": [1]}, "never ended"),
        (["b"], {"a": [1]}, "not charged"),
        (["a", "b"], {"a": [2]}, "not the one that was told"),
        (["a", "b"], {}, "not the one that was told"),
    ],
)
def test_the_count_notices_what_is_wrong(charges, stored, said):
    """Twins of the ledger: one that charges twice, one that forgets, one that answers otherwise."""
    found = wrong(Seen({"a": [1]}, {"b"}), charges, stored, 2)
    assert found == [] if said is None else any(said in line for line in found)
