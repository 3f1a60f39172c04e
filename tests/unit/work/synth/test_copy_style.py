"""A copy is written as its source is: decimals, separator, quotes."""

from __future__ import annotations

import pytest

import discreet
from discreet.work.synth.model_file import load_model
from discreet.work.synth.synthetic import csv_style

TOML = """
[datasets.d]
epsilon = 100
delta = 1e-6
[datasets.d.tables.t]
source = "t.csv"
unit = "row"
[datasets.d.tables.t.columns]
fee = { type = "number", lower = 0, upper = 20, step = 0.25 }
word = { type = "category", values = ["a", "b c"] }
whole = { type = "number", lower = 0, upper = 5, step = 1 }
"""
STYLES = {
    "plain": ("fee,word,whole", ",", "{fee},{word},{whole}"),
    "quoted": ('"fee","word","whole"', ",", '{fee},"{word}",{whole}'),
    "semicolons": ("fee;word;whole", ";", "{fee};{word};{whole}"),
}


@pytest.mark.parametrize("name", STYLES)
def test_a_copy_looks_like_its_source(tmp_path, name):
    head, delimiter, line = STYLES[name]
    rows = [
        line.format(fee=f"{i % 80 / 4:.2f}", word=("a", "b c")[i % 2], whole=i % 6)
        for i in range(400)
    ]
    (tmp_path / "t.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    (tmp_path / "discreet.toml").write_text(TOML, encoding="utf-8")
    with discreet.open(tmp_path) as curator:
        made = curator.synthesize("t", epsilon=20, rows=200)
    made.write(tmp_path / "copy.csv")
    lines = (tmp_path / "copy.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == head
    for text in lines[1:]:
        fee, word, whole = text.split(delimiter)
        assert fee.partition(".")[2] in {"00", "25", "50", "75"}
        assert word in ({'"a"', '"b c"'} if name == "quoted" else {"a", "b c"})
        assert whole in {"0", "1", "2", "3", "4", "5"}
    made.save_model(tmp_path / "m.json")
    kept = csv_style(load_model(tmp_path / "m.json"))
    assert (kept.delimiter, kept.quoted) == (delimiter, name == "quoted")
    assert kept.decimals == {"fee": 2, "whole": 0}
