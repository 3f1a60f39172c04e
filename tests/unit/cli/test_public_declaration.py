"""The owner's word that test rows are public: said or asked once, remembered for these very bytes."""

import pytest

from discreet.cli import learn as learn_public
from discreet.cli.learn import said_public


@pytest.fixture
def place(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    return tmp_path / "t.csv", tmp_path


def answering(monkeypatch, answers):
    asked = []
    for name in ("stdin", "stderr"):
        monkeypatch.setattr(learn_public.sys, name, type("T", (), {"isatty": lambda _: True})())
    monkeypatch.setattr("typer.confirm", lambda text, **_: asked.append(text) or answers.pop(0))
    return asked


def test_without_a_terminal_what_is_not_said_is_no(place):
    test, base = place
    assert not said_public(test, base, said=False)
    assert said_public(test, base, said=True)
    assert said_public(test, base, said=False)  # remembered


@pytest.mark.parametrize("answer", [True, False])
def test_it_is_asked_once(place, monkeypatch, answer):
    test, base = place
    asked = answering(monkeypatch, [answer, answer])
    assert said_public(test, base, said=False) is answer
    assert said_public(test, base, said=False) is answer
    assert len(asked) == 1
    test.write_text("a\n2\n")  # other rows: asked again
    said_public(test, base, said=False)
    assert len(asked) == 2
