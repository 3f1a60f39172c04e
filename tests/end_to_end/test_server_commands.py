"""`discreet serve`, `discreet demo` and `discreet token` as a user runs them."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from discreet.cli.app import run
from discreet.curator import open as open_curator
from discreet.server.access.audit_log import AuditLog
from patience import LONG
from ports import free_port
from server_kit import COUNT, write_world
from server_process import CommandProcess

API = "/api/v1"


@contextmanager
def command(*arguments, home):
    """Run `discreet ...` and yield the process; it must end well after SIGINT."""
    environment = {**os.environ, "HOME": str(home)}
    environment.pop("DISPLAY", None)
    start = "import sys; from discreet.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=home,
    )
    try:
        yield process
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=LONG)
        process.rest = out + error
        assert process.returncode == 0, error
        assert "Traceback" not in error
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def lines_until(process, word):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if word in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


@pytest.fixture
def said_when_ready(monkeypatch, capsys):
    """Return a function that runs a command up to where its server is ready, and gives what it says."""
    monkeypatch.setattr("discreet.server.start.serve", lambda *_, ready, **__: ready())

    def say(*arguments, home):
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.chdir(home)
        assert run(list(arguments)) == 0
        return capsys.readouterr().out

    return say


def test_serve_shows_a_first_owner_token_once(tmp_path, said_when_ready):
    write_world(tmp_path, analysts="", rows=100)
    port = free_port()
    with command("serve", "--port", str(port), home=tmp_path) as process:
        said = lines_until(process, "listens on")
        token = re.search(r"dsc_\S+", said)[0]
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=LONG
        ) as client:
            body = {"sql": COUNT, "epsilon": 0.1}
            assert client.post(f"{API}/query", json=body, timeout=LONG).status_code == 200
    assert token not in process.rest
    assert '"route": "/api/v1/query"' in process.rest
    with open_curator(tmp_path / "discreet.toml") as curator:
        assert curator.ledger.verify() > 0
    again = said_when_ready("serve", "--port", str(port), "--quiet", home=tmp_path)
    assert "listens on" in again
    assert "dsc_" not in again


def test_serve_refuses_what_is_unsafe_or_taken(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["serve", "--host", "0.0.0.0"]) == 1
    assert "plain HTTP" in capsys.readouterr().err
    port = free_port()
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        assert run(["serve", "--port", str(port)]) == 1
    assert "not free" in capsys.readouterr().err


def test_demo_prints_an_address_that_signs_in(tmp_path, monkeypatch, said_when_ready):
    """The address works, the session asks, and the second start makes no new town."""
    port = str(free_port())
    arguments = ("demo", "--no-browser", "--port", port, "--people", "1000")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    process = CommandProcess([*arguments])
    try:
        said = lines_until(process, "Stop with")
        address = re.search(r"http://\S+", said)[0]
        with httpx.Client(follow_redirects=True, timeout=LONG) as browser:
            assert browser.get(address).status_code == 200, "whoever opens it, and however"
            page = browser.get(address, headers={"Sec-Fetch-Site": "none"})
            assert page.status_code == 200
            assert str(page.url) == f"http://127.0.0.1:{port}/ask", "a page to ask on, not a menu"
            assert re.search(r'id="sql"[^>]*>SELECT region, COUNT', page.text), (
                "with a query written"
            )
            base = f"http://127.0.0.1:{port}{API}"
            csrf = browser.get(f"{base}/session").json()["csrf"]
            body = {"sql": "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "epsilon": 0.1}
            found = browser.post(f"{base}/query", json=body, headers={"X-CSRF-Token": csrf})
            assert found.status_code == 200
    finally:
        assert process.end(LONG)
    home = tmp_path / ".local" / "share" / "discreet" / "town-1000"
    assert (home / "discreet.toml").is_file()
    built = {file: file.stat().st_mtime_ns for file in home.glob("*.parquet")}
    assert built
    assert re.search(r"Open http://\S+\?token=dsc_", said_when_ready(*arguments, home=tmp_path))
    assert {file: file.stat().st_mtime_ns for file in home.glob("*.parquet")} == built


@pytest.fixture
def world(tmp_path):
    return write_world(tmp_path, analysts="", rows=20)


def test_a_class_of_300_in_one_command(world, tmp_path, capsys):
    out = tmp_path / "tokens.csv"
    before = world.read_text()
    arguments = ["token", "new", "--class", "300", "--epsilon", "0.5", "--dataset", "census"]
    assert run([*arguments, "--out", str(out), "--config", str(world)]) == 0
    said = capsys.readouterr().out
    assert "300 tokens written" in said
    assert "dsc_" not in said
    assert out.stat().st_mode & 0o777 == 0o600
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len({row["token"] for row in rows}) == 300
    assert rows[0]["analyst"] == "student001"
    assert world.read_text().startswith(before.rstrip("\n"))
    catalog = open_curator(world).catalog
    assert len(catalog.analysts) == 300
    assert float(catalog.analysts["student300"]["census"].epsilon) == 0.5
    listed = json_of(capsys, "token", "list", "--json", "--config", str(world))["tokens"]
    assert {token["role"] for token in listed} == {"analyst"}
    # Again: the file is not overwritten, and neither are the analysts.
    assert run([*arguments, "--out", str(out), "--config", str(world)]) == 1
    assert run([*arguments, "--out", str(tmp_path / "b.csv"), "--config", str(world)]) == 1
    assert not (tmp_path / "b.csv").exists()
    assert len(open_curator(world).catalog.analysts) == 300


def test_a_class_has_a_sheet_to_print_and_is_ended_by_its_name(world, tmp_path, capsys):
    config = ("--config", str(world))
    out = tmp_path / "class.html"
    made = ("token", "new", "--class", "2", "--prefix", "spring", "--epsilon", "0.1")
    assert run([*made, "--out", str(out), "--url", "nowhere", *config]) == 1
    assert run([*made, "--out", str(out), "--url", "https://a.example/", *config]) == 0
    assert out.stat().st_mode & 0o777 == 0o600
    links = re.findall(r"<code>(https://a.example/ask\?token=dsc_[^<]+)</code>", out.read_text())
    assert len(set(links)) == 2
    other = json_of(capsys, "token", "new", "--role", "owner", "--json", *config)["tokens"][0]
    ended = json_of(capsys, "token", "revoke", "--class", "spring", "--json", *config)
    assert ended == {"class": "spring", "ended": 2}
    listed = json_of(capsys, "token", "list", "--json", *config)["tokens"]
    assert {token["id"] for token in listed if token["valid"]} == {other["id"]}
    assert run(["token", "revoke", "--class", "nobody", *config]) == 1
    assert run(["token", "revoke", other["id"], "--class", "spring", *config]) == 1
    assert run(["token", "revoke", *config]) == 1


def json_of(capsys, *arguments):
    capsys.readouterr()
    assert run(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)


def test_tokens_are_made_listed_and_revoked(world, capsys):
    config = ("--config", str(world))
    made = json_of(capsys, "token", "new", "--role", "reviewer", "--json", *config)["tokens"][0]
    assert made["role"] == "reviewer"
    assert made["token"].startswith("dsc_")
    assert run(["token", "new", "--analyst", "zoe", *config]) == 1
    assert "lists no analyst 'zoe'" in capsys.readouterr().err
    made_too = json_of(
        capsys, "token", "new", "--analyst", "zoe", "--epsilon", "3", "--json", *config
    )
    assert any("add up" in note for note in made_too["notes"])  # 3 is more than 'other' has
    json_of(capsys, "token", "revoke", made["id"], "--json", *config)
    listed = json_of(capsys, "token", "list", "--json", *config)["tokens"]
    assert [token["valid"] for token in listed] == [False, True]
    assert run(["token", "list", *config]) == 0
    assert "revoked" in capsys.readouterr().out
    assert run(["token", "new", "--role", "king", *config]) == 1
    assert run(["token", "revoke", "nothing", *config]) == 1
    assert run(["token", "new", "--class", "2", "--analyst", "x", *config]) == 1


def test_commands_leave_lines_in_the_audit_log_which_verify_checks(world, capsys):
    config = ("--config", str(world))
    made = json_of(
        capsys, "token", "new", "--analyst", "zoe", "--epsilon", "0.5", "--json", *config
    )["tokens"][0]
    json_of(capsys, "token", "list", "--json", *config)
    json_of(capsys, "token", "revoke", made["id"], "--json", *config)
    log = AuditLog(world.parent / ".discreet")
    found = [(line.who, line.what) for line in reversed(log.last(10))]
    deeds = ("share changed", "token made", "tokens listed", "token revoked")
    assert found == [("command line", deed) for deed in deeds]
    assert log.last(4)[-1].facts == {
        "dataset": "every data set",
        "epsilon_after": "0.5",
        "analyst": "zoe",
    }
    assert json_of(capsys, "ledger", "verify", "--json", *config)["audit"] == 4
    text = world.parent / ".discreet" / "audit.log"
    text.write_bytes(text.read_bytes().replace(b"zoe", b"eve"))
    assert run(["ledger", "verify", *config]) == 1
    assert "audit log is damaged: line 1" in capsys.readouterr().err


def test_analysts_are_not_written_where_the_result_would_be_wrong(world, capsys):
    before = world.read_text()
    wrong = ["token", "new", "--analyst", "zoe", "--epsilon", "-1", "--config", str(world)]
    assert run(wrong) == 1
    wrong = ["token", "new", "--analyst", "zoe", "--epsilon", "1", "--dataset", "none"]
    assert run([*wrong, "--config", str(world)]) == 1
    assert world.read_text() == before
    assert "dsc_" not in capsys.readouterr().out
    assert Path(world).exists()
