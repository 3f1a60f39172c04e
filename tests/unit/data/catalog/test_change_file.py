"""A discreet.toml is changed under a lock, checked, and whole at every moment."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import threading

import pytest

from discreet.base import files
from discreet.base.numbers import Epsilon
from discreet.curator.reporting import renew_budget
from discreet.data.catalog import writer as changing
from discreet.data.catalog.bare_file import bare_table, recorded_table, retype
from discreet.data.catalog.policy_file import load
from discreet.data.catalog.writer import (
    add_analysts,
    change_file,
    put_back_file,
    write_file,
    writing,
)
from discreet.data.engines.column_types import Storage
from discreet.errors import CatalogError, InvalidInput, LedgerBusy
from discreet.tasks.review import review

TEXT = """# the owner's own words
[datasets.shop]
epsilon = 1.0  # agreed in May
renew = { every = "month", since = "2026-10", epsilon = 0.5, at_most = 4 }
[datasets.shop.tables.orders]
source = "orders.csv"
unit = "row"
[datasets.shop.tables.orders.columns]
cost = { type = "integer", lower = 0, upper = 10, review = true }
"""


@pytest.fixture
def config(tmp_path):
    """A discreet.toml with a file beside it."""
    (tmp_path / "orders.csv").write_text("cost\n3\n4\n", encoding="utf-8")
    config = tmp_path / "discreet.toml"
    config.write_text(TEXT, encoding="utf-8")
    return config


def more(name):
    """Return an edit that adds an analyst."""
    return lambda text: text + f"[analysts.{name}]\ndatasets = {{ shop = {{ epsilon = 0.1 }} }}\n"


ADDS = """
import sys
from pathlib import Path
from discreet.data.catalog.writer import change_file
config, whose, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for i in range(count):
    name = f"{whose}{i}"
    line = f"[analysts.{name}]\\ndatasets = {{ shop = {{ epsilon = 0.1 }} }}\\n"
    change_file(config, lambda text: text + line)
"""


def test_two_writers_at_once_lose_nothing(config):
    each = 12
    writers = [
        subprocess.Popen([sys.executable, "-c", ADDS, str(config), whose, str(each)])
        for whose in ("ann", "bob")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    wanted = {f"{whose}{i}" for whose in ("ann", "bob") for i in range(each)}
    assert set(load(config).analysts) == wanted
    assert config.read_text(encoding="utf-8").startswith("# the owner's own words\n")


DIES = """
import os, sys
from pathlib import Path
from discreet.data.catalog import writer as changing
from discreet.base import files
place = {"before": (files, "_beside"), "beside": (Path, "replace"), "after": (files, "sync_folder")}
owner, name = place[sys.argv[2]]
def stop(*_, **__):
    print("here", flush=True)
    sys.stdin.read()
setattr(owner, name, stop)
changing.change_file(Path(sys.argv[1]), lambda text: text + "# a new line\\n")
"""


@pytest.mark.parametrize(
    ("moment", "written"), [("before", False), ("beside", False), ("after", True)]
)
def test_a_writer_that_is_killed_leaves_the_old_file_or_the_new_one(config, moment, written):
    writer = subprocess.Popen(
        [sys.executable, "-c", DIES, str(config), moment],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"here\n"
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    assert writer.stdin is not None
    writer.stdin.close()
    assert config.read_text(encoding="utf-8") == TEXT + "# a new line\n" * written
    # The lock went with it: the next writer does not wait.
    assert set(change_file(config, more("ann")).analysts) == {"ann"}


def test_what_does_not_read_as_a_catalog_is_not_written(config):
    with pytest.raises(CatalogError, match="not valid TOML"):
        change_file(config, lambda text: text + "[")
    with pytest.raises(CatalogError, match=r"no file.*other\.toml"):
        change_file(config.with_name("other.toml"), more("ann"))
    assert config.read_text(encoding="utf-8") == TEXT


def test_what_cannot_be_put_in_force_is_put_back(config):
    def fail():
        raise CatalogError("No engine today.")

    with pytest.raises(CatalogError, match="No engine"):
        change_file(config, more("ann"), then=fail)
    assert config.read_text(encoding="utf-8") == TEXT
    new = config.with_name("new.toml")
    with pytest.raises(CatalogError, match="No engine"):
        change_file(new, lambda text: f"{text}# more\n", start="# new\n", then=fail)
    assert not new.exists()
    change_file(new, lambda text: f"{text}# more\n", start="# new\n")
    assert new.read_text(encoding="utf-8") == "# new\n# more\n"


def edited(config):
    """Replace the file as editors do, or in its place."""
    config.write_text("# by hand\n" + TEXT, encoding="utf-8")


def other_file(config):
    """Put another file in its place."""
    other = config.with_name("other.toml")
    edited(other)
    other.replace(config)


BY_HAND = {"in its place": edited, "another file": other_file, "gone": lambda path: path.unlink()}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("how", BY_HAND)
@pytest.mark.parametrize("kind", [LedgerBusy, KeyboardInterrupt])
def test_what_the_owner_writes_while_a_change_fails_is_left(config, how, fresh, kind):
    if fresh:
        config.unlink()

    def fail():
        BY_HAND[how](config)
        raise kind("Not now.")

    with pytest.raises(kind) as caught:
        change_file(config, lambda _: more("ann")(TEXT), start="", then=fail)
    if how == "gone":
        assert not config.exists()
    else:
        assert config.read_text(encoding="utf-8") == "# by hand\n" + TEXT
    if kind is LedgerBusy:
        assert "changed elsewhere meanwhile and is left as it is" in str(caught.value)


@pytest.mark.parametrize("how", BY_HAND)
def test_what_the_owner_writes_while_a_change_is_composed_is_left(config, how):
    def edit(text):
        BY_HAND[how](config)
        return more("ann")(text)

    with pytest.raises(InvalidInput, match=r"changed elsewhere just now.*Try again"):
        change_file(config, edit)
    if how == "gone":
        assert not config.exists()
    else:
        assert config.read_text(encoding="utf-8") == "# by hand\n" + TEXT


@pytest.mark.parametrize("how", BY_HAND)
@pytest.mark.parametrize("writing", ["the change", "what is put back"])
def test_what_the_owner_writes_while_the_new_text_is_made_ready_is_left(
    config, how, writing, monkeypatch
):
    """The twin, which looks at the file before the new text lies ready on the disk, loses what they wrote."""
    ready, made = files._beside, []

    def slowly(path, content, *, durable):
        beside = ready(path, content, durable=durable)
        made.append(path)
        if len(made) == (1 if writing == "the change" else 2):
            BY_HAND[how](config)
        return beside

    def fail():
        if writing == "what is put back":
            raise LedgerBusy("Not now.")

    monkeypatch.setattr(files, "_beside", slowly)
    with pytest.raises((InvalidInput, LedgerBusy), match="changed elsewhere"):
        change_file(config, more("ann"), then=fail)
    if how == "gone":
        assert not config.exists()
    else:
        assert config.read_text(encoding="utf-8") == "# by hand\n" + TEXT
    assert [each.name for each in config.parent.glob(".new-*")] == []


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbf" + TEXT.encode(), TEXT.replace("\n", "\r\n").encode()]
)
def test_what_is_put_back_has_every_byte(config, content):
    def fail():
        raise LedgerBusy("Not now.")

    config.write_bytes(content)
    with pytest.raises(LedgerBusy) as caught:
        change_file(config, more("ann"), then=fail)
    assert config.read_bytes() == content
    assert "elsewhere" not in str(caught.value)


def test_what_was_written_is_taken_back_unless_somebody_changed_it(config):
    before, after = config.read_bytes(), b"# other\n"
    put_back_file(config, before=after, after=b"# not this\n")
    assert config.read_bytes() == before
    put_back_file(config, before=after, after=before)
    assert config.read_bytes() == after
    put_back_file(config, before=None, after=after)
    assert not config.exists()
    write_file(config, TEXT)
    with pytest.raises(InvalidInput, match="exists already"):
        write_file(config, "")
    write_file(config, "# all new\n", force=True)
    assert config.read_text(encoding="utf-8") == "# all new\n"


def bare_file(config):
    """Remember a second file in the same place."""
    (config.parent / "two.csv").write_text("age\n3\n", encoding="utf-8")
    recorded_table(config.parent / "two.csv")


def typed(config):
    """Write the types of a file's columns, which were learned."""
    path = config.parent / "three.csv"
    path.write_text("age\n3\n", encoding="utf-8")
    retype(bare_table(path, epsilon=Epsilon.of(1), untyped=True), {"age": Storage.INTEGER})


WRITERS = {
    "analysts": lambda config: add_analysts(
        config, ["ann"], epsilon=Epsilon.of("0.1"), datasets=["shop"]
    ),
    "renewal": lambda config: renew_budget(config, "shop", today=dt.date(2026, 11, 18)),
    "review": lambda config: review(config, accept=["cost"]),
    "bare file": bare_file,
    "types of a bare file": typed,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_waits_for_its_turn_and_sees_what_was_written(config, name, monkeypatch):
    arrived = threading.Event()
    lock = changing.fcntl.flock

    def told(handle, kind):
        if threading.current_thread() is not threading.main_thread():
            arrived.set()
        lock(handle, kind)

    monkeypatch.setattr(changing.fcntl, "flock", told)
    failed = []

    def write():
        try:
            WRITERS[name](config)
        except BaseException as error:
            failed.append(error)
            arrived.set()

    writer = threading.Thread(target=write)
    with writing(config):
        writer.start()
        assert arrived.wait(60)
        config.write_text(more("zoe")(config.read_text(encoding="utf-8")), encoding="utf-8")
    writer.join()
    assert failed == []
    text = config.read_text(encoding="utf-8")
    assert "zoe" in load(config).analysts
    assert text != more("zoe")(TEXT), "the writer wrote too"
    assert "# the owner's own words" in text
    assert "# agreed in May" in text


def test_a_link_stays_a_link_and_both_names_take_turns(config, tmp_path):
    alias = tmp_path / "elsewhere" / "discreet.toml"
    alias.parent.mkdir()
    alias.symlink_to(config)
    (alias.parent / "orders.csv").symlink_to(tmp_path / "orders.csv")
    change_file(alias, lambda text: text.replace("agreed in May", "agreed in June"))
    assert alias.is_symlink()
    assert "agreed in June" in config.read_text(encoding="utf-8")
    assert not (alias.parent / ".discreet.toml.lock").exists()


def test_a_lock_that_leads_elsewhere_is_refused(config, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    victim.chmod(0o644)
    lock = config.with_name(f".{config.name}.lock")
    lock.unlink(missing_ok=True)
    lock.symlink_to(victim)
    with pytest.raises(InvalidInput, match="cannot be written"):
        change_file(config, lambda text: text + "# more\n")
    assert (victim.read_text(), victim.stat().st_mode & 0o777) == ("mine", 0o644)
