import os
import threading

import pytest

from discreet.data.catalog.policy_file import LARGEST_FILE, load
from discreet.data.catalog.writer import change_file
from discreet.errors import CatalogError, LedgerBusy, NotInForce
from discreet.privacy.ledger.ledger import Ledger
from discreet.server import workspace as module
from discreet.server.workspace import CatalogState, Workspace
from patience import LONG, eventually
from server_kit import COUNT, write_world


@pytest.fixture(autouse=True)
def _look_always(monkeypatch):
    monkeypatch.setattr(module, "LOOK_AGAIN", -1.0)
    monkeypatch.setattr(module, "FIRST_WAIT", LONG)


@pytest.fixture
def config(tmp_path):
    return write_world(tmp_path, analysts="", rows=50)


def datasets(workspace):
    with workspace.curator() as curator:
        return set(curator.catalog.datasets)


def test_a_changed_file_is_in_force_at_once_and_the_old_curator_ends_with_its_users(config):
    workspace = Workspace(config)
    with workspace.curator() as old:
        config.write_text(config.read_text().replace("[datasets.other", "[datasets.renamed"))
        assert datasets(workspace) == {"census", "renamed"}
        assert set(old.catalog.datasets) == {"census", "other"}
        assert old.query(COUNT, epsilon=1).columns == ("sex", "n")  # still open
    assert "engine" not in old.__dict__  # closed now
    workspace.close()


def closed(workspace):
    """Return whether the workspace lends nothing, and says why."""
    with pytest.raises(NotInForce), workspace.curator():
        pass
    return workspace.problem is not None


def test_a_wrong_file_closes_until_a_right_one_is_there(config):
    workspace = Workspace(config)
    good = config.read_text()
    config.write_text(good + "\nnonsense = = 1\n")
    eventually(lambda: closed(workspace), "noticed")
    assert isinstance(workspace.problem, CatalogError)
    assert workspace.state is CatalogState.UNREADABLE
    with pytest.raises(NotInForce):
        workspace.lists("alice")
    with workspace.last_curator() as curator:
        assert set(curator.catalog.datasets) == {"census", "other"}
    with pytest.raises(CatalogError):
        workspace.reload()
    config.unlink()
    assert closed(workspace)
    with pytest.raises(CatalogError):
        workspace.reload()
    config.write_text(good.replace("[datasets.other", "[datasets.third"))
    eventually(lambda: in_force(workspace), "the right one")
    assert datasets(workspace) == {"census", "third"}
    assert workspace.problem is None
    workspace.close()


def in_force(workspace):
    workspace.refresh()
    return workspace.state is CatalogState.IN_FORCE


def test_a_change_that_fails_in_the_ledger_is_tried_again_until_it_is_in_force(config, monkeypatch):
    workspace = Workspace(config)
    tried, whole = [], Ledger.open

    def fail(*args, **more):
        tried.append(1)
        if len(tried) < 3:
            raise LedgerBusy("Not now.")
        return whole(*args, **more)

    monkeypatch.setattr(Ledger, "open", fail)
    config.write_text(config.read_text().replace("[datasets.other", "[datasets.third"))
    eventually(lambda: in_force(workspace), "the change")
    assert datasets(workspace) == {"census", "third"}
    assert len(tried) == 3
    workspace.close()


def test_what_nobody_foresaw_does_not_leave_the_old_file_in_force(config, monkeypatch):
    workspace = Workspace(config)

    def fail(*_):
        raise RecursionError

    with monkeypatch.context() as patched:
        patched.setattr(module, "curator_of", fail)
        config.write_text(config.read_text().replace("[datasets.other", "[datasets.third"))
        eventually(lambda: closed(workspace), "noticed")
    eventually(lambda: in_force(workspace), "the change")
    assert datasets(workspace) == {"census", "third"}
    workspace.close()


def test_limits_of_a_file_that_was_put_back_are_put_back_too(config, monkeypatch):
    """The ledger may have adopted what a change declared, although the change came to nothing."""
    workspace, good, whole = Workspace(config), config.read_text(), Ledger.open

    def adopt_and_fail(*args, **more):
        whole(*args, **more).close()
        raise LedgerBusy("After it was written.")

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "open", adopt_and_fail)
        config.write_text(good.replace("epsilon = 1000000", "epsilon = 2000000"))
        with pytest.raises(LedgerBusy):
            workspace.reload()
    config.write_text(good)
    eventually(lambda: in_force(workspace), "as it was")
    with workspace.curator() as curator:
        assert curator.budget_report()["datasets"]["census"]["epsilon"]["limit"] == 1000000
    workspace.close()


def test_a_file_of_the_same_length_and_time_is_a_change(config):
    workspace, facts = Workspace(config), config.stat()
    config.write_text(config.read_text().replace("[datasets.other", "[datasets.third"))
    os.utime(config, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert datasets(workspace) == {"census", "third"}
    workspace.close()


def test_a_folder_without_a_file_starts_empty(tmp_path):
    workspace = Workspace(tmp_path / "discreet.toml")
    assert datasets(workspace) == set()
    write_world(tmp_path, analysts="", rows=10)
    workspace.reload()
    assert datasets(workspace) == {"census", "other"}
    workspace.close()


def test_many_threads_while_it_changes(config):
    workspace = Workspace(config)
    text, failed = config.read_text(), []

    def ask():
        try:
            for _ in range(5):
                with workspace.curator() as curator:
                    curator.explain(COUNT, epsilon=1)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(3):
        # At once: a reader must never see half of a catalog, which would be another catalog.
        new = config.with_suffix(".new")
        new.write_text(f"# {i}\n{text}")
        new.replace(config)
        workspace.reload()
    for thread in threads:
        thread.join(LONG)
    assert failed == []
    workspace.close()


def test_a_file_that_is_too_large_closes_and_is_not_read(config, monkeypatch):
    workspace, text = Workspace(config), config.read_text()
    os.truncate(config, LARGEST_FILE + 1)
    monkeypatch.setattr(module, "curator_of", None)  # never reached
    assert closed(workspace)
    assert "larger than 16 MB" in str(workspace.problem)
    monkeypatch.undo()
    for refused in (lambda: load(config), lambda: change_file(config, lambda now: now)):
        with pytest.raises(CatalogError, match="larger than 16 MB"):
            refused()
    config.write_text(f"# again\n{text}")
    eventually(lambda: in_force(workspace), "the right one")
    workspace.close()


def test_an_empty_file_closes_until_it_is_written(config):
    workspace = Workspace(config)
    text = config.read_text()
    config.write_text("")
    assert closed(workspace)
    config.write_text(f"# again\n{text}")
    with workspace.curator() as curator:
        assert curator.explain(COUNT, epsilon=1)
    workspace.close()
