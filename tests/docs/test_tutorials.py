"""Tutorials are tests: each runs from its first block to its last, in an empty folder of its own."""

import configparser
import inspect
import re
import shlex
import shutil
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fences import ROOT, fences
from playing import Stage

from discreet.cli.app import COMMANDS, command_of, run
from discreet.data.catalog.policy_file import load
from postgres_server import postgres_server, postgres_url  # noqa: F401  # fixtures

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
# What its subject needs, and a machine without it has not.
NEEDS = {
    "clients": ("pandas", "psycopg", "sqlalchemy", "fastapi"),
    "anonymize": ("scipy",),
    "survey": ("cryptography", "fastapi"),
}


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_every_tutorial_runs(path, tmp_path, monkeypatch, capsys):
    for name in NEEDS.get(path.stem, ()):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    with Stage(capsys) as stage:
        stage.play(path)
    shown = sum(fence.language == "text" for fence in fences(path))
    assert stage.done + len(stage.skipped) + shown == len(fences(path))
    assert len(stage.skipped) <= (1 if path.stem == "deploy" else 0), stage.skipped


def test_what_deploys_is_what_was_tried(tmp_path, monkeypatch, capsys):
    """The catalog can be read, the unit's options exist, and the container file is the repository's own."""
    from discreet.cli.serve import serve

    monkeypatch.chdir(tmp_path)
    with Stage(capsys) as stage:
        stage.play(ROOT / "docs" / "tutorials" / "deploy.md")
    assert load(tmp_path / "discreet.toml").engine_url.startswith("postgresql://")
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read(tmp_path / "discreet.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(words[0]).name == "discreet"
    assert words[1] == "serve"
    known = {name.replace("_", "-") for name in inspect.signature(serve).parameters}
    options = {word.removeprefix("--") for word in words if word.startswith("--")}
    assert options <= known
    assert {"tls-certificate", "tls-key"} <= options
    without_comments = re.sub(
        r"^#.*\n", "", (ROOT / "Containerfile").read_text(), flags=re.MULTILINE
    )
    assert (tmp_path / "Containerfile").read_text() == without_comments


@pytest.mark.postgres
def test_the_deployment_runs_on_a_real_server(tmp_path, monkeypatch, capsys, postgres_url):  # noqa: F811
    """Two roles and two databases as the tutorial says; its last block, and its unit's own command."""
    import psycopg

    ledger = f"{urlsplit(postgres_url).path[1:]}_ledger"
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("CREATE TABLE people (age integer)")
        owner.execute("INSERT INTO people SELECT i % 90 FROM generate_series(1, 500) i")
        for role in ("reader", "ledger"):
            owner.execute(f"DROP ROLE IF EXISTS {role}")
            owner.execute(f"CREATE ROLE {role} LOGIN")
        owner.execute("GRANT SELECT ON people TO reader")
        owner.execute(f"CREATE DATABASE {ledger} OWNER ledger")
    monkeypatch.chdir(tmp_path)
    ours = urlsplit(postgres_url)
    where = f"{ours.hostname or ''}{f':{ours.port}' if ours.port else ''}"
    ending = f"?{ours.query}" if ours.query else ""
    instead = {
        "reader@db.internal/census": f"reader@{where}{ours.path}{ending}",
        "ledger@db.internal/ledger": f"ledger@{where}/{ledger}{ending}",
    }
    with Stage(capsys, instead=instead, skips=False) as stage:
        stage.play(ROOT / "docs" / "tutorials" / "deploy.md")
        assert stage.skipped == []
        unit = (tmp_path / "discreet.service").read_text()
        stage.serve(shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1])[1:])
        assert run(["query", "SELECT COUNT(*) AS n FROM people", "--epsilon", "0.5"]) == 0
        assert run(["ledger", "verify"]) == 0


def test_the_certificate_of_the_survey_can_be_made(tmp_path, monkeypatch):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl on this machine")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "tutorials" / "survey.md").read_text()
    words = shlex.split(re.search(r"`(openssl [^`]*)`", text)[1])
    subprocess.run([openssl, *words[1:]], check=True, capture_output=True)
    ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain("cert.pem", "key.pem")


def unknown_words(line):
    """Return the options of a command line that its command does not have."""
    words = shlex.split(line)[1:]
    command = command_of(words[0])
    while words[1:] and words[1] in getattr(command, "commands", {}):
        words = words[1:]
        command = command.commands[words[0]]
    known = {name for option in command.params for name in option.opts}
    return [word for word in words if word.startswith("--") and word not in known]


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_commands_in_the_prose_exist(path):
    for line in re.findall(r"`(discreet [a-z][^`]*)`", path.read_text(encoding="utf-8")):
        assert shlex.split(line)[1] in COMMANDS, line
        assert unknown_words(line) == [], line


def test_an_option_that_does_not_exist_is_noticed():
    assert unknown_words("discreet ledger backup FILE") == []
    assert unknown_words("discreet token new --klass 3 --epsilon 1") == ["--klass"]


@pytest.mark.parametrize(
    "text",
    [
        "```sh\ndiscreet budget --config nowhere.toml\n```\n",
        "```sh\nrm -rf x\n```\n",
        "```sh\ndiscreet serve --no-such-option\n```\n",
        "```python\nassert False\n```\n",
        "```toml\na = 1\n```\n",
        "```ruby\nputs 1\n```\n",
    ],
)
def test_a_tutorial_that_does_not_work_is_noticed(text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.md").write_text(text)
    with Stage(capsys) as stage, pytest.raises(AssertionError):
        stage.play(tmp_path / "broken.md")


def test_there_are_nine():
    assert [path.stem for path in TUTORIALS] == [
        "anonymize",
        "clients",
        "deploy",
        "first-answer",
        "learn",
        "own-csv",
        "publish",
        "survey",
        "synthetic",
    ]
