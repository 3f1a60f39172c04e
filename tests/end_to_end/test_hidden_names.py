"""No name of a hidden column is in anything that an analyst sees: pages, API, files, PostgreSQL, commands, errors."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.routing import APIRoute

import discreet
from discreet.ask.sql.names import Names
from discreet.cli.app import run as run_command
from discreet.errors import DiscreetError, UnknownName
from discreet.server.access.auth import all_routes, roles_of
from discreet.server.access.tokens import Role
from pgwire_kit import Endpoint
from server_kit import running

NAME = "zqx"
"""In every hidden name, and in no other word."""
HIDDEN = {
    "Zqx_Payroll": 'type = "text"',
    "zqx_children": 'type = "integer", lower = 0, upper = 9',
    "zqx_left": 'type = "date", lower = 2020-01-01, upper = 2020-12-31',
    "zqx_kind": 'type = "category", values = ["a", "b"]',
}
OPEN = {
    "age": 'type = "integer", lower = 0, upper = 99',
    "sex": 'type = "category", values = ["F", "M"]',
    "rating": 'type = "integer", lower = 1, upper = 5',
    "film": 'type = "integer", lower = 1, upper = 4',
    "city": 'type = "text"',
}
TABLES = {"people": "row", "visits": "person"}
COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
API = "/api/v1"
WRONG = "no_such_column"


def write_world(folder):
    dice = random.Random(7)
    rows = 400
    table = pa.table(
        {
            "person": [i // 2 for i in range(rows)],
            "age": [dice.randrange(100) for _ in range(rows)],
            "sex": [dice.choice("FM") for _ in range(rows)],
            "rating": [dice.randint(1, 5) for _ in range(rows)],
            "film": [dice.randint(1, 4) for _ in range(rows)],
            "city": [dice.choice(["Ulm", "Bonn"]) for _ in range(rows)],
            "Zqx_Payroll": [f"p{i}" for i in range(rows)],
            "zqx_children": [dice.randrange(10) for _ in range(rows)],
            "zqx_left": ["2020-05-01"] * rows,
            "zqx_kind": [dice.choice("ab") for _ in range(rows)],
        }
    )
    lines = ["[datasets.town]", "epsilon = 1000000", "delta = 0.01"]
    for name, unit in TABLES.items():
        pq.write_table(table, folder / f"{name}.parquet")
        lines += [f"[datasets.town.tables.{name}]", f'source = "{name}.parquet"']
        lines.append(f'unit = "{unit}"' + ("\nmax_rows = 2" if unit != "row" else ""))
        lines.append(f"[datasets.town.tables.{name}.columns]")
        lines += [f"{column} = {{ {facts} }}" for column, facts in OPEN.items()]
        lines += [f"{column} = {{ {facts}, hidden = true }}" for column, facts in HIDDEN.items()]
    text = "\n".join(lines)
    # Rows and people are two kinds of units: each table has a dataset of its own.
    head, _, visits = text.partition("[datasets.town.tables.visits]")
    visits = "[datasets.clinic.tables.visits]" + visits.replace("datasets.town", "datasets.clinic")
    clinic = "[datasets.clinic]\nepsilon = 1000000\ndelta = 0.01\n"
    share = "{ epsilon = 1000, delta = 0.001 }"
    ending = f"\n[analysts.bob]\ndatasets = {{ town = {share}, clinic = {share} }}\n"
    (folder / "discreet.toml").write_text(head + clinic + visits + ending)
    return folder / "discreet.toml"


PAID, DELTA = {"epsilon": "1"}, {"delta": "1e-7"}
PEOPLE, VISITS = {"table": "town.people"} | PAID, {"table": "clinic.visits"} | PAID
BODIES = [
    ("/query", {"sql": COUNT, "request_id": "first"} | PAID),
    ("/query", {"sql": "SELECT * FROM people"} | PAID),
    ("/explain", {"sql": COUNT} | PAID),
    ("/explain", {"sql": f"SELECT {WRONG} FROM people"} | PAID),
    ("/explain", {"sql": f"SELECT COUNT(*) FROM visits JOIN people USING ({WRONG})"} | PAID),
    ("/explain", {"sql": "SELECT COUNT(*) FROM people NATURAL JOIN visits"} | PAID),
    ("/explain", {"sql": "SELECT COLUMNS(*) FROM visits"} | PAID),
    ("/rehearse", {"sql": COUNT, "seed": 1} | PAID),
    ("/synth/explain", PEOPLE),
    ("/synth/explain", VISITS | DELTA | {"method": "independent"}),
    ("/synth/explain", PEOPLE | {"target": WRONG}),
    ("/synth/explain", PEOPLE | {"columns": [WRONG]}),
    ("/synth/explain", PEOPLE | {"where": f"{WRONG} > 1"}),
    ("/synth/explain", PEOPLE | {"rules": [f"{WRONG} > 1"]}),
    ("/synth", PEOPLE | DELTA | {"method": "independent", "rows": 20}),
    ("/synth", VISITS | DELTA | {"method": "random", "rows": 20}),
    ("/models/explain", PEOPLE | {"target": "sex"}),
    ("/models/explain", PEOPLE | {"target": WRONG}),
    ("/models/explain", PEOPLE | {"target": "sex", "features": [WRONG]}),
    ("/models", PEOPLE | DELTA | {"target": "sex", "model": "bayes"}),
    ("/models", VISITS | DELTA | {"target": "sex", "model": "logistic"}),
    ("/choices/explain", PEOPLE | {"column": "sex"}),
    ("/choices/explain", PEOPLE | {"column": WRONG}),
    ("/choices", PEOPLE | {"column": "sex"}),
    ("/recommenders/explain", VISITS | {"item": "film", "rating": WRONG}),
    ("/recommenders", VISITS | DELTA | {"item": "film", "rating": "rating"}),
    ("/bounds/explain", VISITS),
    ("/bounds/explain", PEOPLE),
    ("/bounds", VISITS),
    ("/notebooks", {"title": "Mine"}),
]
"""What an analyst asks: each kind once, and each with a column that is not there."""
STATEMENTS = [
    "SELECT * FROM information_schema.columns",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_attribute",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM pg_catalog.pg_description",
    COUNT,
    "SELECT * FROM people",
    "SELECT * FROM people LIMIT 0",
    "SELECT * FROM preview.people",
    f"SELECT {WRONG} FROM people",
    f"EXPLAIN {COUNT}",
]


def all_text(answer):
    """Return what an answer shows: its headers, its text, and what is in it where it is an archive."""
    found = f"{answer.status_code} {dict(answer.headers)} {answer.text}"
    if answer.content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            found += "".join(
                f"{name} {archive.read(name).decode(errors='replace')}"
                for name in archive.namelist()
            )
    if answer.content[:4] == b"PAR1":
        found += str(pq.read_table(io.BytesIO(answer.content)).schema)
    return found


def finished(client, job):
    """Return what a job tells while it runs, and once it has ended."""
    with client.stream("GET", f"{API}/jobs/{job}/events") as stream:
        events = stream.read().decode()
    return events, client.get(f"{API}/jobs/{job}")


def addresses(server, ids):
    """Return every address that an analyst may look at, with what was made in the place of its parts."""
    for route in all_routes(server.app.routes):
        if not isinstance(route, APIRoute) or "GET" not in route.methods:
            continue
        roles = roles_of(route.endpoint)
        if (roles is None or Role.ANALYST in roles) and not route.path.endswith("/events"):
            names = re.findall(r"\{(\w+)", route.path)
            for known in ids.get(names[0], [{}]) if names else [{}]:
                yield re.sub(r"\{(\w+)[^}]*\}", lambda m, k=known: k.get(m[1], "none"), route.path)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Return everything that a server has shown to an analyst, by what was asked, and its log."""
    folder, found = tmp_path_factory.mktemp("world"), {}
    ids: dict[str, list[dict[str, str]]] = {
        "request_id": [{"request_id": "first", "ending": "csv"}]
    }
    with (
        running(write_world(folder)) as server,
        server.client(server.token("analyst", "bob")) as client,
    ):
        for number, (path, body) in enumerate(BODIES):
            answer = client.post(API + path, json=body)
            found[f"{number} POST {path} {body}"] = all_text(answer)
            told = answer.json() if answer.status_code < 300 else {}
            if "job" in told:
                job = told["job"]
                events, ended = finished(client, job)
                found[f"{number} job of {path}"] = events + ended.text
                made = ended.json()
                assert made["state"] == "done", (path, body, made)
                told = made["answer"]
                ids.setdefault("job_id", []).append({"job_id": job})
            for key, kind, files in (
                ("copy", "copy_id", ("rows.csv", "rows.parquet", "report.html", "model.zip")),
                ("recommender", "recommender_id", ("",)),
                ("id", "notebook_id" if path == "/notebooks" else "model_id", ("",)),
                ("model_id", "model_id", ("",)),
            ):
                if isinstance(told.get(key), str):
                    ids.setdefault(kind, []).extend({kind: told[key], "file": f} for f in files)
        for listed, kind in (("models", "model_id"), ("notebooks", "notebook_id")):
            for each in next(iter(client.get(f"{API}/{listed}").json().values())):
                ids.setdefault(kind, []).append({kind: each["id"]})
        for address in addresses(server, ids):
            for accept in ("text/html", "application/json"):
                answer = client.get(address, headers={"accept": accept})
                found[f"GET {address} {accept}"] = all_text(answer)
    return found


def shown(found):
    """Return the places in which a hidden name stands."""
    return sorted(place for place, text in found.items() if NAME in text.lower())


def test_no_hidden_name_is_in_what_a_server_shows_to_an_analyst(seen):
    assert len(seen) > 150
    looked = " ".join(place for place, text in seen.items() if text.startswith("200"))
    for word in ("/synthesize", "/models", "/ask", "/catalog", "rows.parquet", "model.zip"):
        assert word in looked, word
    assert shown(seen) == []


def test_no_hidden_name_is_in_what_postgresql_shows_to_an_analyst(tmp_path):
    found = {}
    toml = write_world(tmp_path)
    toml.write_text(toml.read_text().replace("[analysts.bob]", "[analysts.alice]") + BOB)
    server = Endpoint(toml)
    try:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.add_notice_handler(lambda told: found.setdefault("notices", []).append(told))
            connection.execute("SET discreet.epsilon = 1")
            for sql in STATEMENTS:
                try:
                    cursor = connection.execute(sql)
                    found[sql] = f"{cursor.description} {cursor.fetchall()}"
                except psycopg.Error as error:
                    found[sql] = f"{error} {error.diag.message_hint}"
    finally:
        server.close()
    assert "rating" in found[STATEMENTS[0]], "the columns that are open are there"
    notices = [f"{told.message_primary} {told.message_hint}" for told in found.pop("notices", [])]
    assert shown(found | {"notices": " ".join(notices)}) == []


BOB = "[analysts.bob]\ndatasets = { town = { epsilon = 1 } }\n"
SMALL = ("--epsilon", "1", "--delta", "1e-7")
COMMANDS = [
    ("query", COUNT, "--epsilon", "1"),
    ("query", COUNT, "--epsilon", "1", "--explain"),
    ("query", "SELECT * FROM people", "--epsilon", "1"),
    ("query", f"SELECT {WRONG} FROM people", "--epsilon", "1"),
    ("synth", "people", *SMALL, "--method", "independent", "--out", "copy.csv"),
    ("synth", "visits", *SMALL, "--method", "independent", "--report", "copy.html"),
    ("synth", "people", "--epsilon", "1", "--where", f"{WRONG} > 1"),
    ("learn", "classify", "people", "--target", "sex", *SMALL, "--out", "m.zip"),
    ("learn", "classify", "people", "--target", WRONG, "--epsilon", "1"),
    ("learn", "regress", "people", "--target", "rating", *SMALL),
    ("learn", "regress", "people", "--target", WRONG, "--epsilon", "1"),
]


def test_no_hidden_name_is_in_what_a_command_shows_to_an_analyst(tmp_path, monkeypatch, capsys):
    write_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = {}
    for words in COMMANDS:
        for form in ((), ("--json",)):
            status = run_command([*words, "--as", "bob", *form])
            said = capsys.readouterr()
            expected = 1 if WRONG in " ".join(words) or "SELECT *" in words[1] else 0
            assert status == expected, (words, said.err)
            found[" ".join((*words, *form))] = said.out + said.err
    for path in tmp_path.glob("*.*"):
        if path.suffix in (".csv", ".html", ".zip"):
            found[path.name] = all_text_of(path)
    assert {"copy.csv", "copy.html", "m.zip"} <= found.keys()
    assert shown(found) == []


def all_text_of(path):
    if path.suffix != ".zip":
        return path.read_text()
    with zipfile.ZipFile(path) as archive:
        return "".join(archive.read(n).decode(errors="replace") for n in archive.namelist())


GUESSES = [
    "SELECT COUNT({0}) AS n FROM people",
    "SELECT COUNT(*) AS n FROM people WHERE {0} > 1",
    "SELECT {0}, COUNT(*) AS n FROM people GROUP BY {0}",
    "SELECT COUNT(*) AS n FROM people AS p JOIN visits AS v ON p.{0} = v.{0}",
    "SELECT COUNT(*) AS n FROM visits JOIN people USING ({0})",
    "SELECT SUM(x) AS s FROM (SELECT person, SUM({0}) AS x FROM visits GROUP BY person)",
]
SAME_ROUTES = [
    ("/models/explain", PEOPLE | {"target": "{0}"}),
    ("/models/explain", PEOPLE | {"target": "sex", "features": ["{0}"]}),
    ("/choices/explain", PEOPLE | {"column": "{0}"}),
    ("/recommenders/explain", VISITS | {"item": "{0}", "rating": "rating"}),
    ("/recommenders/explain", VISITS | {"item": "film", "rating": "{0}"}),
    ("/synth/explain", PEOPLE | {"target": "{0}"}),
    ("/synth/explain", PEOPLE | {"columns": ["{0}"]}),
    ("/synth/explain", PEOPLE | {"where": "{0} = 1"}),
    ("/synth/explain", PEOPLE | {"rules": ["{0} = 1"]}),
    ("/bounds/explain", VISITS | {"column": "{0}"}),
    *(("/explain", {"sql": sql} | PAID) for sql in GUESSES),
    *(("/query", {"sql": sql} | PAID) for sql in GUESSES),
]


def test_who_guesses_a_hidden_name_hears_what_is_said_of_a_name_that_is_not_there(tmp_path):
    with (
        running(write_world(tmp_path)) as server,
        server.client(server.token("analyst", "bob")) as client,
    ):
        for path, body in SAME_ROUTES:
            told = {}
            for name in (*HIDDEN, "Abc_Nowhere", "abc_nowhere"):
                asked = json.loads(json.dumps(body).replace("{0}", name))
                answer = client.post(API + path, json=asked)
                told[name] = (
                    answer.status_code,
                    re.sub(name, "NAME", answer.text, flags=re.IGNORECASE),
                )
            assert len(set(told.values())) == 1, (path, body, told)


def test_the_twins_that_tell_of_hidden_columns_are_caught(tmp_path, monkeypatch):
    """A hint that lists every column, and a sentence of its own for what is hidden, as before."""
    found = {}

    def told(what, column):
        with discreet.open(tmp_path / "discreet.toml") as curator:
            try:
                curator.explain(f"SELECT {column} FROM people", epsilon=1, analyst="bob")
            except DiscreetError as error:
                found[what] = f"{error.message} {error.hint}"

    write_world(tmp_path)
    told("right", WRONG)
    told("guess", "zqx_payroll")
    assert found["guess"].replace("zqx_payroll", WRONG) == found["right"]
    assert shown(found) == ["guess"], "its own word"
    every = UnknownName("No.", hint=", ".join((*OPEN, *HIDDEN)))
    monkeypatch.setattr(Names, "_unknown", lambda *_: every)
    told("hint", WRONG)
    monkeypatch.setattr(Names, "_unknown", _with_a_sentence_of_its_own)
    told("sentence", "zqx_payroll")
    assert shown(found) == ["guess", "hint", "sentence"]
    assert found["sentence"].replace("Zqx_Payroll", WRONG) != found["right"]


def _with_a_sentence_of_its_own(names, column):
    table = names.entries[0].table
    hidden = {each.name.lower(): each.name for each in table.columns if each.hidden}
    return UnknownName(f"Column '{hidden[column.name.lower()]}' is hidden.")
