"""A changed discreet.toml that cannot be put in force: nothing passes that it forbids, and it is tried again.

Every kind of failure while the file is read anew, with every kind of change, over a real server.
"""

import os
import sqlite3
from contextlib import ExitStack, closing, contextmanager

import pytest

from patience import eventually
from server_kit import COUNT, running, sign_in, write_world

API = "/api/v1"
ANALYSTS = """
[analysts.alice]
datasets = { census = { epsilon = 5 } }
[analysts.bob]
datasets = { census = { epsilon = 5 } }
"""
OTHER_TABLE = "\n[datasets.other]"


def write(config, text):
    """Replace the file whole, as careful editors do."""
    new = config.with_suffix(".new")
    new.write_text(text)
    new.replace(config)


# Failures: each a context in which the new text is there, and cannot be put in force.


@contextmanager
def ledger_locked(config, text):
    with closing(sqlite3.connect(config.with_name("ledger.db"), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        write(
            config,
            f"# a new limit makes the ledger write: {text}".replace("epsilon = 5 ", "epsilon = 4 "),
        )
        yield
        other.execute("ROLLBACK")


@contextmanager
def ledger_gone(config, text):
    files = [config.with_name("ledger.db"), config.with_name("ledger.db-wal")]
    moved = [(file, file.with_name(f"{file.name}.away")) for file in files if file.exists()]
    for file, away in moved:
        file.rename(away)
    write(config, text)
    yield
    for file, away in moved:
        away.rename(file)


@contextmanager
def half_written(config, text):
    config.write_text(text[: text.index("unit =") + 3])
    yield
    config.write_text(text)


@contextmanager
def not_text(config, text):
    config.write_bytes(b"\xff\xfe" + text.encode())
    yield
    write(config, text)


@contextmanager
def not_readable(config, text):
    config.unlink()
    config.mkdir()  # a file without rights can be read by root, and these tests may be run by root
    yield
    config.rmdir()
    config.write_text(text)


@contextmanager
def missing(config, text):
    config.unlink()
    yield
    write(config, text)


@contextmanager
def empty(config, text):
    config.write_text("")
    yield
    config.write_text(text)


@contextmanager
def source_gone(config, text):
    source = config.with_name("people.parquet")
    source.rename(source.with_suffix(".away"))
    write(config, text)
    yield
    source.with_suffix(".away").rename(source)


FAILURES = (
    ledger_locked,
    ledger_gone,
    half_written,
    not_text,
    not_readable,
    missing,
    empty,
    source_gone,
)

# Changes: the new text, and what it forbids, which was allowed before.


def analyst_removed(text):
    return text.replace("[analysts.alice]\ndatasets = { census = { epsilon = 5 } }\n", "")


def budget_lowered(text):
    return text.replace("epsilon = 1000\n", "epsilon = 30\n")


def share_lowered(text):
    return text.replace(
        "[analysts.alice]\ndatasets = { census = { epsilon = 5 } }",
        "[analysts.alice]\ndatasets = { census = { epsilon = 0.01 } }",
    )


def column_hidden(text):
    return text.replace(
        'income = { type = "integer", lower = 0, upper = 500000 }',
        'income = { type = "integer", lower = 0, upper = 500000, hidden = true }',
    )


def table_removed(text):
    return text[: text.index(OTHER_TABLE)] + text[text.index("[analysts.alice]") :]


CHANGES = {
    analyst_removed: ("alice", COUNT, 0.1),
    budget_lowered: (None, COUNT, 20),
    share_lowered: ("alice", COUNT, 0.1),
    column_hidden: ("alice", "SELECT SUM(income) AS s FROM people", 0.1),
    table_removed: (None, "SELECT COUNT(*) AS n FROM things", 0.01),
}


@pytest.mark.parametrize("failure", FAILURES, ids=lambda each: each.__name__)
def test_nothing_passes_that_the_new_file_forbids_and_it_comes_into_force(
    tmp_path, failure, monkeypatch
):
    monkeypatch.setattr("discreet.server.workspace.FIRST_WAIT", 0.2, raising=False)
    monkeypatch.setattr("discreet.server.workspace.LOOK_AGAIN", -1.0)
    config = write_world(tmp_path, rows=50, epsilon="1000", analysts=ANALYSTS)
    good = config.read_text()
    with running(config) as server, ExitStack() as stack:
        owner = stack.enter_context(server.client(server.token()))
        nobody = stack.enter_context(server.client())
        clients = {
            name: stack.enter_context(server.client(server.token("analyst", name)))
            for name in ("alice", "bob")
        }

        def asked(who, sql, epsilon):
            body = {"sql": sql, "epsilon": epsilon, "fresh": True}
            return clients.get(who, owner).post(f"{API}/query", json=body)

        def standing():
            return nobody.get(f"{API}/health").json()["catalog"]

        for change, (who, sql, epsilon) in CHANGES.items():
            name = change.__name__
            assert asked(who, sql, epsilon).status_code == 200, name
            assert change(good) != good, name
            with failure(config, change(good)):
                eventually(lambda: standing() != "in force", name)
                refused = asked(who, sql, epsilon)
                assert refused.status_code == 503, (name, refused.text)
                # Nobody is confirmed, whatever the change was about; an owner reads why.
                assert asked("bob", COUNT, 0.1).status_code == 503
                assert asked("bob", COUNT, 0.1).json()["kind"] == "NotInForce"
                eventually(
                    lambda: (
                        "problem" in owner.get(f"{API}/health").json() or failure is ledger_locked
                    ),
                    name,
                )
                assert "problem" not in clients["bob"].get(f"{API}/health").json()
                assert owner.get(f"{API}/health").json()["status"] == "closed"
            eventually(lambda: standing() == "in force", name)
            refused = asked(who, sql, epsilon)
            assert 400 <= refused.status_code < 500, (name, refused.text)
            assert asked("bob", COUNT, 0.01).status_code == 200, name
            write(config, good)
            eventually(lambda: standing() == "in force", name)


def test_nobody_signs_in_whom_no_catalog_confirms_and_a_revoked_token_stays_revoked(tmp_path):
    config = write_world(tmp_path, rows=50, analysts=ANALYSTS)
    with running(config) as server:
        alice, bob, owner = (
            server.token("analyst", "alice"),
            server.token("analyst", "bob"),
            server.token(),
        )
        with server.client() as nobody:
            assert sign_in(nobody, alice).status_code == 303
            config.write_text("half a fi")
            eventually(lambda: nobody.get(f"{API}/health").json()["status"] == "closed", "noticed")
            assert nobody.get(f"{API}/budget").status_code == 503
            nobody.cookies.clear()
            assert sign_in(nobody, alice).status_code == 503
            assert nobody.post(f"{API}/session", json={"token": bob}).status_code == 503
            assert nobody.get(f"/?token={bob}").status_code == 503
            assert nobody.get("/releases").status_code == 200, "released for good"
        with server.client(owner) as owner:
            revoked = server.context.tokens.all()
            id_of = {token.analyst: token.id for token in revoked}
            assert owner.delete(f"{API}/tokens/{id_of['bob']}").status_code == 200
            answer = owner.get(f"{API}/catalog")
            assert answer.status_code == 503
            assert "discreet.toml" in answer.json()["detail"]
            assert "The cause:" in answer.json()["detail"]
        with server.client(bob) as client:
            assert client.get(f"{API}/budget").status_code == 401


def test_the_log_says_once_that_it_began_and_once_that_it_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.server.workspace.LOOK_AGAIN", 0.0)
    config = write_world(tmp_path, rows=50, analysts=ANALYSTS)
    good = config.read_text()
    with running(config) as server, server.client() as nobody:
        config.write_text(good + "\n[nonsense")

        def state():
            return nobody.get(f"{API}/health").json()["catalog"]

        eventually(lambda: state() == "cannot be read, not in force", "noticed")
        for _ in range(50):
            state()
        os.utime(config)
        config.write_text(good)
        eventually(lambda: state() == "in force", "in force again")
        said = [line for line in server.log.getvalue().splitlines() if '"catalog ' in line]
        assert len(said) == 2, said
        assert "CatalogError" in said[0]
