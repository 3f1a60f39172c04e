"""Tasks for children of tests, and what tests ask of processes. Children import this file by its name."""

import logging
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import BudgetExceeded, InvalidInput, MissingExtra

FOLDER = str(Path(__file__).resolve().parent)
FOREVER = threading.Event()


def on_path():
    """Return the PYTHONPATH with which a child finds this file."""
    return os.pathsep.join([FOLDER, *filter(None, [os.environ.get("PYTHONPATH")])])


_PATH = threading.Lock()


@contextmanager
def tests_on_path():
    """Let processes that are started meanwhile find this folder; no other variable is touched."""
    with _PATH:
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = on_path()
        try:
            yield
        finally:
            if before is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = before


def lives(number):
    """Return whether a process is there and not merely waiting to be counted."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def echo(context, **asked):
    context.advance(1, 2, "half way")
    (context.folder / "left behind").write_text("x")
    return {"asked": asked, "process": os.getpid()}


def refuse(context, kind):
    del context
    if kind == "budget":
        raise BudgetExceeded("Too much.", hint="Less.", asked="2", left="1", limit="3")
    if kind == "extra":
        raise MissingExtra("jax", extra="rap")
    if kind == "input":
        raise InvalidInput("No.", hint="Yes.")
    raise ValueError("the cell of a person")


def grow(context, megabytes):
    del context
    return len(bytearray(megabytes << 20))


def end(context, how):
    del context
    if how == "exit":
        os._exit(3)
    os.kill(os.getpid(), getattr(signal, how))
    FOREVER.wait()


def talk(context):
    del context
    print("to the terminal")
    print("to the terminal", file=sys.stderr)
    os.write(1, b"to the terminal")
    log = logging.getLogger("discreet.server")
    try:
        int("the cell of a person")
    except ValueError:
        log.exception("something", extra={"facts": {"public": 7}})
    logging.getLogger("other").error("the cell of a person")
    return sorted(os.environ)


def threads(context):
    del context
    return os.environ["OPENBLAS_NUM_THREADS"]


def hang(context, where):
    """Start a process of its own, write both numbers down, and never end."""
    del context
    other = subprocess.Popen(["sleep", "1000"])
    rough = Path(f"{where}.part")
    rough.write_text(f"{os.getpid()} {other.pid}")
    rough.rename(where)
    FOREVER.wait()
