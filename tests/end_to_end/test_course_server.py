"""The course over HTTP: open to everybody, and nothing of the server can be read or spent through it."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.course import all_lessons
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
    "path", ["exercise.py", "facts.py", "__init__.py", "lesson.md", "..%2flesson.py", "nothing.js"]
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


def test_many_at_once_are_graded_one_after_the_other(server):
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
        assert all(each.result().json()["right"] for each in asked)


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
