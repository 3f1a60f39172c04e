"""The object that a Python user holds."""

import pytest

import discreet
from asking import TOML, curator
from discreet.base.numbers import Epsilon
from discreet.curator import Curator, policy_of
from discreet.data.catalog.policy_file import loads
from discreet.errors import CatalogError, UnknownName


def test_open_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CatalogError, match=r"There is no discreet\.toml here"):
        discreet.open()
    with pytest.raises(CatalogError, match="discreet init"):
        discreet.open(tmp_path / "other.toml")


def test_open_takes_a_file_or_a_folder(tmp_path):
    text = TOML.format(epsilon=1, delta=0, neighbours="add-remove")
    (tmp_path / "discreet.toml").write_text(text, encoding="utf-8")
    assert isinstance(discreet.open(tmp_path), Curator)
    assert discreet.open(tmp_path / "discreet.toml").catalog.datasets.keys() == {"census", "clinic"}


def test_nothing_is_started_before_it_is_needed(tmp_path):
    text = TOML.format(epsilon=1, delta=0, neighbours="add-remove")
    (tmp_path / "discreet.toml").write_text(text, encoding="utf-8")
    with discreet.open(tmp_path) as opened:
        assert opened.catalog
    assert [path.name for path in tmp_path.iterdir()] == ["discreet.toml"]


def test_close_gives_everything_back(tmp_path):
    asked = curator(tmp_path)
    engine = asked.engine
    asked.query("SELECT COUNT(*) FROM people", epsilon="1")
    asked.close()
    assert engine.closed
    asked.close()  # twice does no harm


def test_with_analysts_every_question_says_who_asks(tmp_path):
    text = TOML.format(epsilon=1, delta=0, neighbours="add-remove")
    text += "\n[analysts.alice]\ndatasets = { census = { epsilon = 0.5 } }\n"
    catalog = loads(text, base=tmp_path)
    assert policy_of(catalog).analysts["alice"]["census"].epsilon == Epsilon.of("0.5")
    asked = curator(tmp_path)
    with Curator(catalog, engine=asked.engine) as shared:
        with pytest.raises(CatalogError, match="who asks"):
            shared.query("SELECT COUNT(*) FROM people", epsilon="0.1")
        answer = shared.query("SELECT COUNT(*) FROM people", epsilon="0.1", analyst="alice")
        assert float(answer.limit.epsilon) == 0.5
        with pytest.raises((CatalogError, UnknownName)):
            shared.query("SELECT COUNT(*) FROM people", epsilon="0.1", analyst="mallory")
        own = shared.query("SELECT COUNT(*) FROM people", epsilon="0.1", analyst="owner")
        assert float(own.limit.epsilon) == 1, "the whole budget pays for the owner"
        assert shared.history(last=10, analysts=(None,))[0]["asker"] == "owner"


def test_budget_words_name_the_dataset(tmp_path):
    with curator(tmp_path) as asked:
        asked.query("SELECT COUNT(*) FROM people", epsilon="1")
        assert "census" in asked.budget_words()


def test_a_removed_analyst_sees_nothing(tmp_path):
    text = TOML.format(epsilon=1, delta=0, neighbours="add-remove")
    share = "census = { epsilon = 0.5 }"
    both = "\n[analysts.alice]\ndatasets = { %s }\n[analysts.bob]\ndatasets = { %s }\n"
    engine = curator(tmp_path / "..").engine
    with Curator(loads(text + both % (share, share), base=tmp_path), engine=engine) as asked:
        asked.query("SELECT COUNT(*) FROM people", epsilon="0.1", analyst="alice", request_id="a")
        assert asked.stored_answer("a", analyst="alice") is not None
        assert len(asked.history(analysts=("alice",))) == 1
    gone = text + both.split("[analysts.bob]", maxsplit=1)[0].replace("alice", "bob") % share
    unshared = text + both % ("clinic = { epsilon = 0.5 }", share)
    for later in (gone, unshared):
        with Curator(loads(later, base=tmp_path), engine=engine) as asked:
            assert asked.stored_answer("a", analyst="alice") is None
            assert asked.history(analysts=("alice",)) == []
            with pytest.raises((CatalogError, UnknownName)):
                asked.seen_by("alice").query(
                    "SELECT COUNT(*) FROM people", epsilon="0.1", analyst="alice", request_id="a"
                )
            assert len(asked.history()) > 1, "the owner sees all"
