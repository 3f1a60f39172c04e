from __future__ import annotations

import inspect

import pytest

from discreet.work.synth.methods.registry import METHODS, find_method
from discreet.work.synth.model_file import READERS


@pytest.mark.parametrize("name", METHODS)
def test_the_options_that_are_named_are_those_that_fit_takes(name):
    method = METHODS[name]
    taken = inspect.signature(method.fit).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken.values()):
        return  # a lazy door to an extra: its own test looks at what it takes
    keywords = [n for n, each in taken.items() if each.kind is inspect.Parameter.KEYWORD_ONLY]
    assert sorted(keywords) == sorted([*method.options, "progress"])
    assert method.says


def test_the_default_method_is_there_under_both_names():
    assert find_method("tree") is find_method("mst")
    assert find_method("privbayes") is find_method("correlated")
    assert not find_method("random").uses_data
    assert "network" in READERS
