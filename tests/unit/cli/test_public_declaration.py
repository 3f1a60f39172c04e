"""The owner's word that test rows are public: said or asked once, remembered for these very bytes."""

import pytest

from discreet.cli import public_declaration as learn_public
from discreet.cli.public_declaration import declared_public


@pytest.fixture
def place(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    return tmp_path / "t.csv", tmp_path / "discreet.toml"


def answering(monkeypatch, answers):
    asked = []
    for name in ("stdin", "stderr"):
        monkeypatch.setattr(learn_public.sys, name, type("T", (), {"isatty": lambda _: True})())
    monkeypatch.setattr("typer.confirm", lambda text, **_: asked.append(text) or answers.pop(0))
    return asked


def test_without_a_terminal_what_is_not_said_is_no(place):
    test, config = place
    assert not declared_public(test, config, said=False)
    assert declared_public(test, config, said=True)
    assert declared_public(test, config, said=False)  # remembered


@pytest.mark.parametrize("answer", [True, False])
def test_it_is_asked_once(place, monkeypatch, answer):
    test, config = place
    asked = answering(monkeypatch, [answer, answer])
    assert declared_public(test, config, said=False) is answer
    assert declared_public(test, config, said=False) is answer
    assert len(asked) == 1
    test.write_text("a\n2\n")  # other rows: asked again
    declared_public(test, config, said=False)
    assert len(asked) == 2


def test_no_file_no_question(place):
    assert not declared_public(None, place[1], said=True)
