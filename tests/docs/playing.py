"""Play a tutorial: its files, commands and servers, in order, as a reader would.

What a machine of its own would differ in is put in its place: free ports for 8765 and 5433, the token that a command
has just shown for `dsc_...`, a certificate of the day for `cert.pem`. A server runs until the tutorial ends.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from fences import fences

from discreet.cli.app import run
from patience import LONG
from ports import free_port
from server_process import CommandProcess

FILES = {"csv", "toml", "ini", "dockerfile", "python"}
SHOWN_ONLY = {"console", "text"}


class Stage:
    """One tutorial being played, and what it has started."""

    def __init__(
        self,
        capsys,
        *,
        instead: dict[str, str] | None = None,
        skips: bool = True,
        elsewhere: tuple[str, ...] = (),
    ):
        self._capsys = capsys
        self._names = {"__name__": "tutorial"}
        self._instead: dict[str, str] = dict(instead or {})
        self._skips = skips
        self._elsewhere = elsewhere  # lines that other tests run
        self._servers: list[CommandProcess] = []
        self.done = 0
        self.skipped: list[str] = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self._servers:
            assert server.end(LONG), "a server ends"

    def play(self, path: Path) -> Stage:
        """Run the blocks of a tutorial in order."""
        for fence in fences(path):
            language, _, file = fence.language.partition(" ")
            text = self._in_place(fence.text)
            if "# skip:" in text and self._skips:
                self.skipped.append(re.search(r"# skip: (.*)", text)[1])
            elif language == "python" and not file:
                exec(compile(text, str(fence), "exec"), self._names)
                self.done += 1
            elif language in FILES:
                assert file, f"{fence}: a block of {language} says which file it is"
                Path(file).write_text(text + "\n", encoding="utf-8")
                self.done += 1
            elif language == "sh":
                for line in text.splitlines():
                    self._line(line)
                self.done += 1
            elif language == "console":
                self._console(text)
            else:
                assert language in SHOWN_ONLY, f"{fence}: {language}"
        return self

    def _in_place(self, text: str) -> str:
        for usual, ours in self._instead.items():
            text = text.replace(usual, ours)
        return text

    def _line(self, line: str) -> None:
        words = shlex.split(line, comments=True)
        if not words or line in self._elsewhere:
            return
        assert words[0] == "discreet", line
        if words[1] == "serve":
            self.serve(words[1:])
            return
        self._capsys.readouterr()
        assert run(words[1:]) == 0, f"{line}\n{self._capsys.readouterr().err}"
        token = re.search(r"dsc_\S{20,}", self._capsys.readouterr().out)
        if token:
            self._instead["dsc_..."] = token[0]

    def serve(self, words: list[str]) -> None:
        """Start a server as a tutorial says, on ports of our own, until the tutorial ends."""
        port = free_port()
        if "--port" in words:
            place = words.index("--port")
            words = words[:place] + words[place + 2 :]
        self._instead["127.0.0.1:8765"] = f"127.0.0.1:{port}"
        if "--pg-port" in words:
            place = words.index("--pg-port") + 1
            ours = str(free_port())
            self._instead |= {f"={words[place]}": f"={ours}", f":{words[place]}": f":{ours}"}
            words[place] = ours
        if "cert.pem" in words and not Path("cert.pem").exists():
            write_certificate()
        server = CommandProcess([*words, "--port", str(port)])
        self._servers.append(server)
        said = []
        for line in server.stdout:
            said.append(line)
            if "listens on" in line:
                return
        raise AssertionError("".join(said))

    def _console(self, text: str) -> None:
        """Run what is typed at a prompt of psql, by psql, or over psycopg on a machine without it."""
        asked = re.search(r'PGPASSWORD=(\S+) psql "([^"]*)"', text)
        if asked is None:
            return
        statements = re.findall(r"^discreet=> (.*?)(?:\s+--.*)?$", text, re.MULTILINE)
        psql = shutil.which("psql")
        if psql is not None:
            typed = [word for statement in statements for word in ("-c", statement)]
            settings = os.environ | {"PGPASSWORD": asked[1], "PAGER": ""}
            order = [psql, "--no-psqlrc", "--set", "ON_ERROR_STOP=1", asked[2], *typed]
            done = subprocess.run(order, env=settings, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert done.stdout.count(" row") >= len(statements), done.stdout
        else:
            import psycopg

            with psycopg.connect(f"{asked[2]} password={asked[1]}", autocommit=True) as connection:
                for statement in statements:
                    assert connection.execute(statement.rstrip(";")).fetchall(), statement
        self.done += 1


def write_certificate() -> None:
    """Write cert.pem and key.pem, valid for an hour."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    Path("cert.pem").write_bytes(made.public_bytes(pem))
    Path("key.pem").write_bytes(key.private_bytes(pem, *plain))
