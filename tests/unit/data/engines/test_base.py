from __future__ import annotations

import gc
import weakref

import pyarrow as pa
import pytest

from discreet.data.engines.base import Exact, engine_failed, open_exact


def test_only_open_exact_opens():
    table = pa.table({"a": [1]})
    exact = Exact(table)
    assert open_exact(exact) is table
    public = [name for name in dir(exact) if not name.startswith("_")]
    assert public == []


def test_an_exact_result_cannot_be_extended_or_serialised():
    exact = Exact(pa.table({"a": [1]}))
    with pytest.raises(AttributeError):
        exact.note = 1
    for name in ("__len__", "__iter__", "__float__", "__int__", "__array__", "__arrow_c_stream__"):
        assert not hasattr(exact, name)


def test_an_exact_result_is_freed_with_its_last_user():
    exact = Exact(pa.table({"a": [1]}))
    seen = weakref.ref(exact)
    del exact
    gc.collect()
    assert seen() is None


def test_there_is_one_sentence_for_every_failure():
    assert str(engine_failed()) == str(engine_failed())
    assert engine_failed().__cause__ is None
