"""One look for one charge in every room: whoever charges computes through `release.paid`, which uses `once`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import discreet

SOURCES = Path(discreet.__file__).parent


def calls(text: str) -> Iterator[str]:
    """Yield what a file calls, by its last name."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                yield name


def rooms_that_call(name: str) -> set[str]:
    return {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if f"{name}(" in (text := path.read_text(encoding="utf-8")) and name in calls(text)
    }


def rooms_that_import(module: str) -> set[str]:
    return {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if f"from {module} import" in path.read_text(encoding="utf-8")
    }


def test_whoever_charges_computes_through_once():
    passed_on = {"server/jobs/watched.py"}  # tells of the step, and hands it on
    of_the_ledger = {"privacy/ledger/ledger.py"}  # one charge is a list of one
    charging = rooms_that_call("charge") | rooms_that_call("charge_all")
    assert charging - passed_on - of_the_ledger == {"ask/release/paid.py"}
    assert rooms_that_call("once") == {"ask/release/paid.py"}
    assert rooms_that_call("take") & rooms_that_call("let_go") == {"ask/release/outcome.py"}


def test_every_capability_pays_there():
    assert rooms_that_import("discreet.ask.release.paid") == {
        "work/publish/run.py",
        "work/publish/totals.py",
        "ask/release/pipeline.py",
        "work/synth/run.py",
        "work/synth/linked_run.py",
        "measure/learned_types.py",
        "work/learn/one_look.py",
    }


def test_nobody_else_stores_an_answer():
    assert rooms_that_call("store_answer") == {"ask/release/outcome.py"}
