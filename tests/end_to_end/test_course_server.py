"""The course over HTTP: open to everybody, and nothing of the server can be read or spent through it."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.errors import TooManyRequests
from discreet.lab.course import all_lessons
from discreet.server.access.limits import Buckets
from discreet.server.features.course import pages
from patience import eventually
from server_kit import running, write_world

FIFTH = "SELECT COUNT(*) AS n FROM people WHERE age <= 20 AND smoker"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(write_world(tmp_path_factory.mktemp("world"))) as found:
        yield found


def graded(client, lesson, question, answer):
    body = {"question": question, "answer": answer}
    return client.post(f"/api/v1/course/{lesson}/grade", json=body)


def test_every_lesson_is_open(server):
    with server.client() as nobody:
        listed = nobody.get("/api/v1/course").json()["lessons"]
        assert [each["name"] for each in listed] == [each.name for each in all_lessons()]
        assert set(listed[0]) == {"name", "title", "topics"}
        for lesson in all_lessons():
            page = nobody.get(f"/course/{lesson.name}")
            assert page.status_code == 200
            assert lesson.title in page.text
            assert "{{live" not in page.text
            for question in lesson.questions:
                assert question.why not in page.text, "solutions are for owners"
            book = nobody.get(f"/api/v1/course/{lesson.name}/notebook.ipynb")
            assert json.loads(book.text)["nbformat"] == 4


@pytest.mark.parametrize(
    "path",
    [
        "facts.py",
        "..%2frefusing.py",
        "..%2f__init__.py",
        "lesson.md",
        "..%2flesson.py",
        "nothing.js",
    ],
)
def test_only_what_a_browser_loads_is_served(server, path):
    with server.client() as nobody:
        assert nobody.get(f"/api/v1/course/refusing/{path}").status_code in (400, 404)
        assert nobody.get("/api/v1/course/refusing/live.js").status_code == 200


def test_grading_reads_and_spends_nothing_of_the_server(server):
    """The server's own tables are unknown here, and its ledger stays as it is, whatever is sent."""
    with server.app.state.context.workspace.curator() as curator:
        before = curator.budget_report()
        tables = [t for each in curator.catalog.datasets.values() for t in each.tables]
    with server.client() as nobody:
        assert graded(nobody, "composition", "fifth", FIFTH).json()["right"] is True
        secret = [name for name in tables if name != "people"]
        for name in (*secret, "information_schema.tables", "read_csv('/etc/passwd')"):
            found = graded(nobody, "aggregates", "single", f"SELECT COUNT(*) AS n FROM {name}")
            assert found.status_code == 200
            assert found.json()["right"] is False
    with server.app.state.context.workspace.curator() as curator:
        assert curator.budget_report() == before


def test_many_at_once_are_graded_or_told_to_come_again(server):
    """No thread waits for another's grading: an answer is right, or it is told so at once."""
    with server.client() as nobody, ThreadPoolExecutor(6) as pool:
        asked = [
            pool.submit(
                graded,
                nobody,
                "sensitivity",
                "moves",
                f"SELECT SUM(age) AS s FROM people WHERE age > {i}",
            )
            for i in range(12)
        ]
        found = [each.result() for each in asked]
        assert {each.status_code for each in found} <= {200, 429}
        right = [each.json()["right"] for each in found if each.status_code == 200]
        assert right
        assert all(right)


def test_one_address_is_held_back_and_others_are_not():
    graded = Buckets(pages.GRADED_A_SECOND, pages.GRADED_AT_ONCE, clock=lambda: 0.0)
    for _ in range(pages.GRADED_AT_ONCE):
        graded.take("192.0.2.1")
    with pytest.raises(TooManyRequests):
        graded.take("192.0.2.1")
    graded.take("192.0.2.2")


def test_grading_counts_the_answers_of_an_address(server):
    usual, server.app.state.graded = server.app.state.graded, Buckets(0.0, 1)
    try:
        with server.client() as nobody:
            assert graded(nobody, "aggregates", "last", "60000").json()["right"] is True
            assert graded(nobody, "aggregates", "last", "60000").status_code == 429
    finally:
        server.app.state.graded = usual


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": "fifth", "answer": "x" * 2_001}, 400),
        ({"question": "nothing", "answer": "1"}, 404),
        ({"question": "fifth"}, 400),
        ({"question": "fifth", "answer": 1}, 400),
        ({"question": "fifth", "answer": "1", "epsilon": 1}, 400),
    ],
)
def test_wrong_bodies_are_refused(server, body, status):
    with server.client() as nobody:
        assert nobody.post("/api/v1/course/composition/grade", json=body).status_code == status
        assert nobody.post("/api/v1/course/nowhere/grade", json=body).status_code in (400, 404)


def test_solutions_need_an_owner(server):
    with server.client() as nobody:
        assert "Solutions" not in nobody.get("/course/teacher").text
        for role, opens in (("owner", True), ("analyst", False)):
            token = server.token(role, "alice" if role == "analyst" else None)
            page = nobody.get("/course/teacher", headers={"Authorization": f"Bearer {token}"})
            assert ("Solutions" in page.text) is opens


CLASS = {"name": "autumn", "size": 3, "epsilon": "0.1", "dataset": "census"}


@pytest.fixture
def school(tmp_path):
    with running(write_world(tmp_path)) as found:
        yield found


def token_in(link):
    return link.partition("?token=")[2]


def test_a_class_is_begun_asks_and_is_ended_together(school):
    owner = {"Authorization": f"Bearer {school.token('owner')}"}
    question = {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.1"}
    with school.client() as client:

        def asked(link):
            bearer = {"Authorization": f"Bearer {token_in(link)}"}
            return client.post("/api/v1/query", json=question, headers=bearer).status_code

        reply = client.post("/api/v1/classes", json=CLASS, headers=owner)
        assert reply.status_code == 201, reply.text
        made = reply.json()
        names = [each["name"] for each in made["students"]]
        links = [each["link"] for each in made["students"]]
        assert names == ["autumn001", "autumn002", "autumn003"]
        assert len({token_in(link) for link in links}) == 3
        assert all(link in made["sheet"] for link in links)
        assert made["notes"] == []
        assert asked(links[0]) == 200
        again = {**question, "fresh": True}
        bearer = {"Authorization": f"Bearer {token_in(links[0])}"}
        assert client.post("/api/v1/query", json=again, headers=bearer).status_code == 402
        listed = client.get("/api/v1/classes", headers=owner).json()["classes"]
        assert [(each["name"], each["students"], each["valid"]) for each in listed] == [
            ("autumn", 3, 3)
        ]
        # The same names again: nobody is given anything, and nothing is changed.
        before = school.app.state.context.workspace.config.read_text()
        assert client.post("/api/v1/classes", json=CLASS, headers=owner).status_code == 400
        assert school.app.state.context.workspace.config.read_text() == before
        ended = client.delete("/api/v1/classes/autumn", headers=owner).json()
        assert ended["ended"] == 3
        assert [asked(link) for link in links] == [401, 401, 401]
        assert client.delete("/api/v1/classes/autumn", headers=owner).json()["ended"] == 0
        assert client.delete("/api/v1/classes/winter", headers=owner).status_code == 404
        deeds = [line.what for line in school.app.state.context.access.audit.last(20)]
        assert [deeds.count(deed) for deed in ("share changed", "token made", "token revoked")] == [
            3,
            4,  # the owner's own among them
            3,
        ]
        more = {**CLASS, "name": "many", "size": 20, "epsilon": "90000"}
        (note,) = client.post("/api/v1/classes", json=more, headers=owner).json()["notes"]
        assert "All shares of 'census' add up to" in note


def test_a_class_rehearses_on_public_rows_only(school):
    question = {"sql": "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "epsilon": "0.01"}
    wanted = {**question, "seed": 7}
    workspace = school.app.state.context.workspace

    def sent(token, body=wanted):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with school.client() as client:
            return client.post("/api/v1/rehearse", json=body, headers=headers)

    alice, bob = (school.token("analyst", name) for name in ("alice", "bob"))
    assert sent(None).status_code == 401
    assert sent(alice).status_code == 400, "nothing was declared public"
    text = workspace.config.read_text()
    workspace.config.write_text(
        text.replace("[datasets.census]", "[datasets.census]\npublic_rows = true")
    )
    workspace.reload()
    with workspace.curator() as curator:
        before = curator.history()
    one, other, third = (
        sent(alice).json(),
        sent(bob).json(),
        sent(bob, {**wanted, "seed": 8}).json(),
    )
    assert one["rows"] == other["rows"]
    # Two cells with noise of a scale of 100: alike with probability below 1e-4, five times below 1e-20.
    more = [sent(bob, {**wanted, "seed": seed}).json()["rows"] for seed in (9, 10, 11, 12)]
    assert any(rows != one["rows"] for rows in (third["rows"], *more))
    assert one["watermark"] == "rehearsal: not private"
    assert one["provenance"]["private"] is False
    with workspace.curator() as curator:
        assert curator.history() == before
    things = {**wanted, "sql": "SELECT COUNT(*) AS n FROM things"}
    assert sent(school.token("owner"), things).status_code == 404
    for wrong in ({"seed": "7"}, {"seed": -1}, {"analyst": "bob"}, {"seed": None}):
        assert sent(alice, {**wanted, **wrong}).status_code == 400
    # What was changed and cannot be read may have taken the word back.
    workspace.config.write_text("half a fi")
    eventually(lambda: sent(alice).status_code == 503, "nobody rehearses")


def test_only_an_owner_has_classes(school):
    analyst = {"Authorization": f"Bearer {school.token('analyst', 'alice')}"}
    with school.client() as client:
        for headers, status in (({}, 401), (analyst, 403)):
            assert client.post("/api/v1/classes", json=CLASS, headers=headers).status_code == status
            assert client.get("/api/v1/classes", headers=headers).status_code == status
            assert client.delete("/api/v1/classes/autumn", headers=headers).status_code == status


@pytest.mark.parametrize(
    "wrong",
    [{"size": 0}, {"size": 201}, {"epsilon": "-1"}, {"dataset": "nowhere"}, {"name": "a b"}],
    ids=str,
)
def test_a_wrong_class_is_refused_before_anything_is_made(server, wrong):
    owner = {"Authorization": f"Bearer {server.token('owner')}"}
    before = server.app.state.context.workspace.config.read_text()
    with server.client() as client:
        found = client.post("/api/v1/classes", json={**CLASS, **wrong}, headers=owner)
        assert found.status_code in (400, 404)
        assert client.get("/api/v1/classes", headers=owner).json()["classes"] == []
    assert server.app.state.context.workspace.config.read_text() == before
