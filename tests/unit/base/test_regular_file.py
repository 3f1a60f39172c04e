"""A pipe, a device or a socket in the place of a file is refused at once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.base.files import open_regular, read_bytes, read_text
from discreet.errors import CatalogError, DiscreetError
from patience import LONG
from server_kit import running, write_world


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (*tmp_path.iterdir(), tmp_path, Path("/dev/zero")):
            with pytest.raises(OSError, match=r"\[Errno"):
                open_regular(path)


def test_a_regular_file_is_read_as_it_is(tmp_path):
    (tmp_path / "file").write_bytes(b"a\r\nb")
    (tmp_path / "link").symlink_to("file")
    assert read_bytes(tmp_path / "link") == b"a\r\nb"
    assert read_text(tmp_path / "file") == "a\nb"
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")


COMMANDS = {
    "check": ["budget", "--config", "pipe"],
    "review": ["review", "--config", "pipe"],
    "init": ["init", "pipe.csv", "--epsilon", "1", "--unit", "row"],
    "publish": ["publish", "pipe", "--config", "whole.toml"],
    "run": ["run", "pipe"],
    "survey": ["survey", "plan", "pipe"],
    "anonymize": ["anonymize", "pipe.csv", "--k", "2"],
    "reconcile": ["reconcile", "pipe"],
    "values_from": ["budget", "--config", "named.toml"],
}
NAMED = """[datasets.d]
epsilon = 1
[datasets.d.tables.t]
source = "rows.csv"
unit = "row"
[datasets.d.tables.t.columns]
a = { type = "category", values_from = "pipe" }
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_waits_for_a_pipe(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "named.toml").write_text(NAMED)
    (tmp_path / "whole.toml").write_text("")
    (tmp_path / "rows.csv").write_text("a\nx\n")
    done = subprocess.run(
        [sys.executable, "-m", "discreet", *COMMANDS[name]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "our own mistake" not in done.stderr


def test_the_server_answers_while_its_catalog_is_a_pipe(tmp_path):
    config = write_world(tmp_path)
    with running(config) as server, server.client(server.token()) as client:
        client.timeout = LONG
        assert client.get("/api/v1/catalog").status_code == 200
        config.unlink()
        os.mkfifo(config)
        reply = client.get("/api/v1/catalog")
        assert reply.status_code in (200, 503)
        assert client.get("/api/v1/health").status_code in (200, 503)


def test_the_library_refuses_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "discreet.toml")
    with pytest.raises(CatalogError):
        discreet.open(tmp_path / "discreet.toml")
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(DiscreetError, match="pipe or a device"):
        discreet.init(tmp_path / "a.csv", epsilon=1, unit="row", out=tmp_path / "x.toml")
