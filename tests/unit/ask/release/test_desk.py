"""The desk: a curator is one, and opens of it what is needed, when it is needed."""

import pytest

from asking import curator
from discreet.ask.release.desk import PlainDesk, Request
from discreet.ask.release.pipeline import release_question
from discreet.curator import opened_catalog
from discreet.errors import EngineFailed

SQL = "SELECT COUNT(*) AS n FROM people"


def test_a_desk_laid_out_by_hand_answers_as_the_curator_does(tmp_path):
    with curator(tmp_path) as asked:
        desk = PlainDesk(asked.catalog, asked.ledger, asked.engine, asked.rng)
        paid = release_question(Request.of(SQL, epsilon="0.5", request_id="one"), desk)
        again = asked.query(SQL, epsilon="0.5", request_id="one")
    assert again.rows == paid.rows


def test_what_was_answered_comes_back_without_the_database(tmp_path, monkeypatch):
    def absent(*_given, **_named):
        raise EngineFailed("The database is down.")

    with curator(tmp_path) as asked:
        catalog, paid = asked.catalog, asked.query(SQL, epsilon="0.5", request_id="one")
    monkeypatch.setattr(opened_catalog, "connect", absent)
    with type(asked)(catalog) as again:
        assert again.query(SQL, epsilon="0.5", request_id="one").rows == paid.rows
        with pytest.raises(EngineFailed):
            again.query(SQL, epsilon="0.5", request_id="two")
        assert again.ledger.spent(catalog.dataset_of(catalog.table("people")).budget).charges == 1
