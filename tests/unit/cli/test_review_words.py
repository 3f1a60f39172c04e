"""What `discreet review` and the Data page say of a column that is declared immutable."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.base.schema import IMMUTABLE_WORDS
from discreet.cli.owner import table_words
from discreet.data.catalog.toml_text import ColumnProposal
from discreet.server.features.data.proposal import reveals
from discreet.tasks.review import look

TOML = """
[datasets.d]
epsilon = 1
[datasets.d.tables.t]
source = "t.csv"
unit = "row"
[datasets.d.tables.t.columns]
day = {{ type = "date", lower = 2026-01-01, upper = 2026-12-31{more} }}
"""


@pytest.mark.parametrize(("more", "said"), [("", 0), (", immutable = true", 1)])
def test_the_promise_of_later_sources_is_said(tmp_path: Path, more: str, said: int):
    (tmp_path / "t.csv").write_text("day\n2026-02-03\n" + "2026-02-04\n" * 20)
    (tmp_path / "discreet.toml").write_text(TOML.format(more=more))
    (table,) = look(tmp_path / "discreet.toml")
    assert "\n".join(table_words(table)).count(IMMUTABLE_WORDS) == said


@pytest.mark.parametrize("immutable", [False, True])
def test_the_data_page_says_it(immutable: bool):
    settings = {"type": "boolean"} | ({"immutable": True} if immutable else {})
    assert (IMMUTABLE_WORDS in reveals(ColumnProposal("day", settings))) == immutable
