"""discreet.connect(): the methods of the local curator, through a real server."""

import math
import threading

import pytest

import discreet
from discreet import errors
from discreet.client import _error
from discreet.core.answer import _interval
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
        found = _error(400, facts)
        wanted = errors.ServerFailed if kind is errors.MissingExtra else kind
        assert type(found) is wanted
        assert (found.message, found.hint) == ("what", "do")
        if kind is not errors.MissingExtra:
            whole = kind("what", hint="do", **dict.fromkeys(kind.MORE, "1"))
            assert vars(_error(400, problem_of(whole))) == vars(whole)
    assert type(_error(500, ["x"])) is errors.ServerFailed
    assert type(_error(500, {"kind": "Any"})) is errors.ServerFailed
    assert type(_error(500, {"kind": "InternalError"})) is errors.ServerFailed


def test_open_ends_come_back_as_infinities():
    assert _interval(None) is None
    assert _interval([None, 3.0]) == (-math.inf, 3.0)
    assert _interval([1.0, None]) == (1.0, math.inf)
