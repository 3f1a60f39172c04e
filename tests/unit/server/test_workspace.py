import threading

import pytest

from discreet.errors import CatalogError
from discreet.server import workspace as module
from discreet.server.workspace import Workspace
from patience import LONG
from server_kit import COUNT, write_world


@pytest.fixture(autouse=True)
def _look_always(monkeypatch):
    monkeypatch.setattr(module, "LOOK_AGAIN", -1.0)


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


def test_a_wrong_file_leaves_the_old_one_in_force(config):
    workspace = Workspace(config)
    good = config.read_text()
    config.write_text(good + "\nnonsense = = 1\n")
    assert datasets(workspace) == {"census", "other"}
    assert isinstance(workspace.problem, CatalogError)
    with pytest.raises(CatalogError):
        workspace.reload()
    config.unlink()
    assert datasets(workspace) == {"census", "other"}
    config.write_text(good.replace("[datasets.other", "[datasets.third"))
    assert datasets(workspace) == {"census", "third"}
    assert workspace.problem is None
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


def test_an_empty_file_changes_nothing_until_it_is_written(config, monkeypatch):
    monkeypatch.setattr("discreet.server.workspace.LOOK_AGAIN", -1.0)
    workspace = Workspace(config)
    text = config.read_text()
    config.write_text("")
    with workspace.curator() as curator:
        assert curator.explain(COUNT, epsilon=1)
    config.write_text(f"# again\n{text}")
    with workspace.curator() as curator:
        assert curator.explain(COUNT, epsilon=1)
    workspace.close()
