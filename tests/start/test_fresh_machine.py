"""What a new user gets: `make run` in a bare Debian, once stopped half-way, then for real.

The bare system is made by debootstrap, which needs root and a Debian mirror; where they are absent
this says so and skips. No git history, no home that can be written, an unprivileged user, a folder
with spaces, and the usual port taken.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from patience import LONG

ROOT = Path(__file__).resolve().parents[2]
BARE = "python3,python3-pip,python3-venv,make,ca-certificates"
PLACE = "/srv/a new folder/discreet"
INSIDE = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
    "PIP_CERT": "/etc/ssl/certs/ca-certificates.crt",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="a bare system is made by root only"),
    pytest.mark.skipif(
        shutil.which("debootstrap") is None, reason="debootstrap is not installed here"
    ),
]


def mirror():
    """The Debian mirror that this machine itself uses, if it says which."""
    for path in (*Path("/etc/apt/sources.list.d").glob("*.sources"), Path("/etc/apt/sources.list")):
        found = re.search(r"^(?:URIs:|deb(?: \[.*\])?) *(\S+)", path.read_text(), re.MULTILINE)
        if found:
            return [found[1]]
    return []


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    root = tmp_path_factory.mktemp("bare") / "root"
    command = ["debootstrap", "--variant=minbase", f"--include={BARE}", "bookworm", root, *mirror()]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip("debootstrap could not make a bare system: is there a mirror?")
    for name in ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", INSIDE["PIP_CERT"][1:]):
        if Path("/", name).exists():
            shutil.copy(Path("/", name), root / name)
    yield root
    shutil.rmtree(root)


@pytest.fixture
def clone(bare):
    """The files of the working tree that git knows, and no history."""
    folder = bare / PLACE[1:]
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if names.returncode:
        pytest.skip("this tree is no git clone, so what belongs to it is unknown")
    for name in names.stdout.decode().strip("\0").split("\0"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    subprocess.run(["chroot", bare, "chown", "-R", "nobody", Path(PLACE).parent], check=True)
    yield folder
    shutil.rmtree(folder.parent)


@contextmanager
def made(bare, target, log):
    """Run `make TARGET` in there as nobody, with mounts that end with it; stopped by Ctrl-C."""
    script = (
        f"mount --bind /proc '{bare}/proc' && mount --bind /dev '{bare}/dev' && "
        f"exec chroot --userspec=nobody '{bare}' sh -c 'cd \"{PLACE}\" && exec make {target}'"
    )
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", script],
            env=INSIDE | {"PATH": os.environ["PATH"]},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            # As a terminal does: to all of them at once.
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(LONG)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def until(process, log, pattern, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = re.search(pattern, log.read_text())
        if found:
            return found
        assert process.poll() is None, log.read_text()[-2000:]
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-2000:])


def test_make_run_works_for_a_new_user_even_after_ctrl_c(bare, clone, tmp_path):
    log = tmp_path / "log"
    with made(bare, "run", log) as process:
        until(process, log, "Setting up", LONG)
        packages = clone / ".venv" / "lib"
        while not packages.exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(1)  # in the midst of it
    assert not (clone / ".venv" / ".ready-run").exists()
    shutil.rmtree(clone / ".venv" / "tools", ignore_errors=True)  # as if it had been stopped there
    with socket.create_server(("127.0.0.1", 8765)) if free(8765) else nullcontext():
        began = time.monotonic()
        with made(bare, "run", log) as process:
            address = until(process, log, r"Open (http://127\.0\.0\.1:\d+/\S*)", 900)[1]
            with urllib.request.urlopen(address, timeout=LONG) as page:
                assert page.status == 200
                assert b"Discreet" in page.read()
            took = time.monotonic() - began
    said = log.read_text()
    print(f"the first page after {took:.0f} s; .venv takes {size(clone / '.venv') >> 20} MB")
    assert "stopped half-way; beginning again" in said
    assert "Port 8765 is taken: using" in said
    assert f"using {PLACE}/.discreet/town" in said
    assert size(clone / ".venv") < 700 << 20


def free(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def size(folder):
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_symlink())
