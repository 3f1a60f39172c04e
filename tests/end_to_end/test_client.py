"""discreet.connect(): the methods of the local curator, through a real server."""

import hashlib
import math
import threading

import pyarrow as pa
import pytest

import discreet
from discreet import errors
from discreet.base.answer import _interval
from discreet.curator.client.connection import error_of
from discreet.server.problems import problem_of
from patience import LONG
from ports import free_port
from server_kit import COUNT, running, write_world


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


@pytest.fixture(scope="module")
def bob(server):
    with discreet.connect(server.url, token=server.token("analyst", "bob")) as client:
        yield client


def test_an_answer_is_the_local_one(server, bob):
    answer = bob.query(COUNT, epsilon="0.1", request_id="client-1")
    with server.context.workspace.curator() as curator:
        local = curator.query(COUNT, epsilon="0.1", request_id="client-1", analyst="bob")
    assert answer.to_json() == local.to_json()
    assert answer == local
    assert str(answer) == str(local)
    assert answer.to_csv() == local.to_csv()
    assert bob.stored_answer("client-1").rows == answer.rows


def test_explain_budget_catalog_history(bob):
    found = bob.explain(COUNT, within=20, fresh=True)
    assert found.dataset == "census"
    assert found.after.epsilon > found.before.epsilon
    assert found.expected_error["n"] <= 20
    assert found.words.startswith("Compared with you")
    assert bob.outline()["datasets"]["census"]["tables"]["people"]["unit"] == "each row"
    bob.query(COUNT, epsilon=0.1, fresh=True)
    assert bob.budget_report()["datasets"]["census"]["charges"] >= 1
    assert bob.history(last=1)[0]["sql"] == COUNT


def test_errors_are_the_local_ones(server, bob):
    with pytest.raises(errors.QueryRefused, match="single rows"):
        bob.query("SELECT * FROM people", epsilon=1)
    with pytest.raises(errors.UnknownName):
        bob.query("SELECT COUNT(*) FROM nowhere", epsilon=1)
    with pytest.raises(errors.InvalidInput):
        bob.query(COUNT)
    alice = discreet.connect(server.url, token=server.token("analyst", "alice"))
    with alice, pytest.raises(errors.BudgetExceeded) as refused:
        alice.query(COUNT, epsilon=7)
    assert refused.value.left
    nobody = discreet.connect(server.url, token="dsc_x")
    with nobody, pytest.raises(errors.NotSignedIn):
        nobody.outline()
    reviewer = discreet.connect(server.url, token=server.token("reviewer"))
    with reviewer, pytest.raises(errors.NotAllowed):
        reviewer.query(COUNT, epsilon=1)


def test_a_connection_that_was_closed_is_opened_again(server, bob):
    bob.outline()
    bob._connection.sock.close()
    assert bob.outline()


def test_many_threads_share_a_client(bob):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(bob.query(COUNT, epsilon=0.1, fresh=True)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert len({answer.request_id for answer in found}) == 8


def test_what_is_not_there_or_not_safe_is_said():
    port = free_port()
    with pytest.raises(errors.ServerFailed, match=f"127.0.0.1:{port} could not be reached"):
        discreet.connect(f"http://127.0.0.1:{port}", token="dsc_x").outline()
    with pytest.raises(errors.InvalidInput, match="plain HTTP"):
        discreet.connect("http://curator.example", token="dsc_x")
    assert discreet.connect("http://curator.example", token="dsc_x", plain_http=True)
    with pytest.raises(errors.InvalidInput, match="no address"):
        discreet.connect("curator.example", token="dsc_x")
    with pytest.raises(errors.InvalidInput, match="dsc_"):
        discreet.connect("http://127.0.0.1", token="a\nb")


def test_every_error_comes_back_as_its_class():
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.DiscreetError)
    ]
    assert len(kinds) > 15
    for kind in kinds:
        facts = {"kind": kind.__name__, "detail": "what", "hint": "do"}
        found = error_of(400, facts)
        wanted = errors.ServerFailed if kind is errors.MissingExtra else kind
        assert type(found) is wanted
        assert (found.message, found.hint) == ("what", "do")
        if kind is not errors.MissingExtra:
            whole = kind("what", hint="do", **dict.fromkeys(kind.MORE, "1"))
            assert vars(error_of(400, problem_of(whole))) == vars(whole)
    assert type(error_of(500, ["x"])) is errors.ServerFailed
    assert type(error_of(500, {"kind": "Any"})) is errors.ServerFailed
    assert type(error_of(500, {"kind": "InternalError"})) is errors.ServerFailed


def test_open_ends_come_back_as_infinities():
    assert _interval(None) is None
    assert _interval([None, 3.0]) == (-math.inf, 3.0)
    assert _interval([1.0, None]) == (1.0, math.inf)


def test_reports_are_the_local_ones(server, bob):
    owner = discreet.connect(server.url, token=server.token())
    with owner, server.context.workspace.curator() as curator:
        here, there = curator.budget_report(), owner.budget_report()
        assert {name: here[name] for name in there} == there
        assert here.keys() == there.keys()
        assert here["datasets"]["census"]["epsilon"].keys() == {"limit", "spent", "left"}
        assert repr(there) == repr(here)
        assert owner.outline() == curator.outline()
        assert owner.warnings() == curator.warnings()
        assert bob.outline() == curator.outline("bob")
        assert bob.budget_report() == {"analyst": "bob", **curator.share_report("bob")}
        paid = bob.query(COUNT, epsilon="0.1", request_id="reports-1")
        for asker in (bob, owner):
            assert asker.stored_answer("nothing") is None
        assert owner.stored_answer("reports-1") is None
        assert owner.stored_answer("reports-1", analyst="bob").rows == paid.rows
        assert curator.stored_answer("reports-1", analyst="bob").rows == paid.rows
    with pytest.raises(errors.NotAllowed, match="owner only"):
        bob.warnings()
    reviewer = discreet.connect(server.url, token=server.token("reviewer"))
    with reviewer:
        assert reviewer.outline().keys() == {"datasets"}
        assert "worst_region" not in reviewer.budget_report()["datasets"]["census"]


def test_what_a_client_shows_holds_no_token(server):
    token = server.token()
    with discreet.connect(server.url, token=token) as client:
        assert repr(client) == f"client of    {server.url}"
        assert token not in repr(client) + client._repr_html_()


def test_a_client_learns_and_chooses_as_a_curator(server):
    with discreet.connect(server.url, token=server.token()) as client:
        trained = client.learn("people", target="sex", epsilon="2", model="bayes")
        assert trained.model.kind == "bayes"
        assert trained.model.target.name == "sex"
        assert float(trained.cost.epsilon) == 2
        assert trained.after.epsilon > trained.before.epsilon
        assert repr(trained).startswith("classifier   bayes for sex, accuracy")
        chosen = client.select("people", column="sex", epsilon="2")
        assert chosen.choice in {"Female", "Male"}
        assert chosen.candidates == 2
        assert float(chosen.cost.epsilon) == 2
        with pytest.raises(errors.InvalidInput):
            client.learn("people", target="sex", epsilon="1", features=("sex",))


def test_a_copy_is_used_here(server, tmp_path):
    with discreet.connect(server.url, token=server.token()) as client:
        copy = client.synthesize("people", epsilon="0.5", method="independent", rows=200)
        assert copy.private
        assert copy.table.num_rows == 200
        assert pa.table(copy).num_rows == 200
        assert copy.sample(50, where="age >= 65").num_rows == 50
        assert copy.limit.epsilon > copy.after.epsilon > copy.before.epsilon
        assert not copy.free
        report = client.synthesis_report(copy)
        assert report.write(tmp_path / "r.html").read_text().startswith("<!doctype html>")
        assert 'sandbox=""' in report._repr_html_()
        assert b"comparison" in client.synthesis_comparison(copy).page.lower()


def test_an_anonymized_copy_is_recorded_there(server):
    with discreet.connect(server.url, token=server.token()) as client:
        made = client.anonymize("people", k=5, quasi=["age", "sex"], keep=["income"])
        assert made.table.column_names == ["age", "sex", "income"]
        assert "note" in repr(made), "the answer says what was left out"
        assert made.table.num_rows == made.facts["rows"] - made.facts["suppressed"]
        assert "k = 5" in repr(made)
        assert client.budget_report()["datasets"]["census"]["exposures"] >= 1


SPEC = """
[release]
name = "by-sex"
dataset = "census"
epsilon = 1

[tables.sexes]
sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
"""


def test_a_client_publishes_as_a_curator(server, tmp_path):
    spec = tmp_path / "SPEC.toml"
    spec.write_text(SPEC, encoding="utf-8")
    with discreet.connect(server.url, token=server.token()) as client:
        drafted = client.draft_release(spec)
        assert drafted["state"] == "draft"
        rehearsed = client.rehearse_release(spec)
        assert rehearsed.epsilon == 1
        assert "by-sex" in repr(rehearsed)
        with pytest.raises(errors.InvalidInput, match="digest"):
            client.approve_release(spec)
        approved = client.approve_release(spec, digest=drafted["digest"])
        assert approved["state"] == "approved"
        found = client.publish(spec, out=tmp_path / "release.zip")
        assert found.tables == {"sexes": 2}
        assert hashlib.sha256(found.out.read_bytes()).hexdigest() == found.sha256
        assert found.key == client.release_key()
        assert client.publish(spec).free
        assert [each["release"] for each in client.releases()] == ["by-sex"]
        assert client.withdraw_release(spec, reason="a test")["state"] == "withdrawn"
        (tmp_path / "other.toml").write_text("x = 1")
        with pytest.raises(errors.InvalidInput, match="names no release"):
            client.withdraw_release(tmp_path / "other.toml", reason="none")
