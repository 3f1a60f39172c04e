"""What a server says of itself while its ledger is refused, and when its folder is taken away."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest

from server_kit import COUNT, running, write_world

API = "/api/v1"


def ask(client):
    return client.post(f"{API}/query", json={"sql": COUNT, "epsilon": 0.1, "fresh": True})


def linked(config):
    """Give the ledger a second name, as a copy by hard links does."""
    os.link(config.with_name("ledger.db"), config.with_name("second.db"))
    return config.with_name("second.db").unlink


def put_back(config):
    """Put the ledger and its head back to what they were before the last charge."""
    before = config.parent / "before"
    files = [*before.iterdir()]
    now = {file.name: config.with_name(file.name).read_bytes() for file in files}
    with closing(sqlite3.connect(config.with_name("ledger.db"))) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for file in files:
        config.with_name(file.name).write_bytes(file.read_bytes())

    def again():
        for name, content in now.items():
            config.with_name(name).write_bytes(content)

    return again


def keep(config):
    """Keep a copy of the ledger and its head."""
    before = config.parent / "before"
    before.mkdir()
    with closing(sqlite3.connect(config.with_name("ledger.db"))) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in ("ledger.db", "ledger.db.head"):
        (before / name).write_bytes(config.with_name(name).read_bytes())


@pytest.mark.parametrize("spoil", [linked, put_back])
def test_health_is_limited_while_the_ledger_is_refused(tmp_path, spoil):
    config = write_world(tmp_path, rows=60, analysts="")
    with running(config) as server, server.client(server.token()) as owner:
        assert ask(owner).status_code == 200
        keep(config)
        assert ask(owner).status_code == 200
        assert owner.get(f"{API}/health").json()["status"] == "ok"
        mend = spoil(config)
        refused = ask(owner)
        assert (refused.status_code, refused.json()["kind"]) == (503, "LedgerTampered")
        assert owner.get(f"{API}/metrics").status_code == 503  # looks, as the server does itself
        found = owner.get(f"{API}/health").json()
        assert (found["status"], found["catalog"]) == ("limited", "in force")
        assert refused.json()["detail"] in found["problem"]
        with server.client() as nobody:
            said = nobody.get(f"{API}/health").json()
        assert "problem" not in said
        assert "ledger" in said["limited"]
        if spoil is linked:
            mend()
            assert owner.get(f"{API}/metrics").status_code == 200
            healed = owner.get(f"{API}/health").json()
            assert healed["status"] == "ok"
            assert healed.keys() == found.keys() - {"limited", "problem"}


@pytest.mark.parametrize("outside", [False, True])
def test_a_folder_that_is_taken_away_is_one_sentence(tmp_path, outside, monkeypatch):
    """Also before the server has looked whether discreet.toml is there, and where the data are elsewhere."""
    monkeypatch.setattr(
        "discreet.data.engines.files._SETTLED", -1e9
    )  # no file is too new to be remembered
    config = write_world(tmp_path / "here", rows=60, analysts="")
    people = config.with_name("people.parquet")
    if outside:
        people = people.rename(tmp_path / "people.parquet")
        config.write_text(config.read_text().replace("people.parquet", str(people)))
    with running(config) as server, server.client(server.token()) as owner:
        assert ask(owner).status_code == 200
        os.utime(people)  # its content is hashed again, and remembered
        (tmp_path / "here").rename(tmp_path / "there")
        replies = [ask(owner) for _ in range(3)]
        (tmp_path / "there").rename(tmp_path / "here")
        assert all(reply.status_code in {400, 503} for reply in replies), replies[0].text
        assert all("went wrong inside" not in reply.text for reply in replies)
