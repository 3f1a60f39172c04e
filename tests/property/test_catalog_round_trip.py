"""Whatever is proposed reads back as it was meant, whatever the names and values look like."""

import datetime as dt
import tomllib
from decimal import Decimal
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import CategoryDomain, DateDomain, IntegerDomain, NumberDomain
from discreet.data.catalog import loads
from discreet.data.catalog.toml_text import ColumnProposal, Proposal, TableProposal, render_toml
from sittings import FULL

NASTY = st.sampled_from(
    ['"', "\\", "'", "\n", "\r\n", "\0", "\x7f", "#", "]", "=", "{", ".", "é", "💥"]
)
NASTY |= st.sampled_from(["\u2028", "\ufeff", "\x85", '"""', "\\u0041", "a.b", " ", "datasets"])
TEXTS = st.lists(NASTY | st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=4)
TEXTS = TEXTS.map("".join)
WORDS = TEXTS.map(lambda text: text.replace("\0", ""))
"""What a category may be: no text of a file holds a NUL."""
NAMES = TEXTS.filter(lambda text: text.strip())


@st.composite
def columns(draw):
    name = draw(NAMES)
    low, high = sorted((draw(st.integers(-(2**40), 2**40)), draw(st.integers(-(2**40), 2**40))))
    places = draw(st.integers(0, 6))
    days = sorted((draw(st.dates()), draw(st.dates())))
    kinds = [
        {"type": "integer", "lower": low, "upper": high},
        {
            "type": "number",
            "lower": Decimal(low).scaleb(-places),
            "upper": Decimal(high).scaleb(-places),
            "step": Decimal(1).scaleb(-places),
        },
        {"type": "category", "values": tuple(draw(st.lists(WORDS, min_size=1, unique=True)))},
        {
            "type": "date",
            "lower": days[0],
            "upper": days[1],
            "format": draw(st.sampled_from(["%d.%m.%Y", "%b %d, %y"])),
        },
        {"type": "boolean"},
        {"type": "text", "hidden": True},
    ]
    settings = {**draw(st.sampled_from(kinds)), "review": draw(st.booleans())}
    return ColumnProposal(name, settings, (draw(TEXTS),))


UNIQUE = st.lists(columns(), min_size=1, max_size=4, unique_by=lambda column: column.name.lower())


@st.composite
def proposals(draw):
    table = TableProposal(
        name=draw(NAMES),
        # In a folder of its own, so that no text names the ledger's file beside discreet.toml.
        source=draw(TEXTS.map(lambda text: "data/" + text.replace("\0", "").replace("..", ""))),
        columns=tuple(draw(UNIQUE)),
        unit="row",
        seen=(draw(TEXTS),),
    )
    return Proposal(
        dataset=draw(NAMES),
        tables=(table,),
        epsilon=Epsilon.of(draw(st.decimals("0.000001", "1000", places=9)) or 1),
        delta=Delta.of(draw(st.sampled_from(["0", "1e-9", "0.05", "1e-30"]))),
        accepted=draw(st.booleans()),
    )


def meant(settings):
    low, high = settings.get("lower"), settings.get("upper")
    if settings["type"] == "integer":
        return IntegerDomain(low, high)
    if settings["type"] == "category":
        return CategoryDomain(settings["values"])
    if settings["type"] == "date":
        return DateDomain(low, high)
    return None


@settings(max_examples=100 if FULL else 20)
@given(proposals())
def test_what_is_written_reads_back(proposal):
    catalog = loads(render_toml(proposal), base=Path())
    dataset = catalog.datasets[proposal.dataset]
    wanted = proposal.tables[0]
    table = dataset.tables[0]
    assert (table.name, table.source) == (wanted.name, wanted.source)
    assert [column.name for column in table.columns] == [c.name for c in wanted.columns]
    assert catalog.budgets[proposal.dataset].epsilon == proposal.epsilon
    assert catalog.budgets[proposal.dataset].delta == proposal.delta
    assert dataset.accepted == proposal.accepted
    for column, asked in zip(table.columns, wanted.columns, strict=True):
        assert column.reviewed != asked.settings["review"]
        assert column.hidden == asked.settings.get("hidden", False)
        domain = meant(asked.settings)
        assert domain is None or column.domain == domain
        if isinstance(column.domain, NumberDomain):
            wanted_bounds = [Decimal(asked.settings[k]) for k in ("lower", "upper", "step")]
            found = [column.domain.lower, column.domain.upper, column.domain.step]
            assert found == wanted_bounds
        if "format" in asked.settings:
            assert column.spelling.dates == (asked.settings["format"],)


@given(TEXTS, st.datetimes().map(lambda time: time.replace(microsecond=0)))
def test_single_values_read_back(text, time):
    from discreet.data.catalog.toml_text import key, value

    assert tomllib.loads(f"{key(text)} = {value(text)}") == {text: text}
    assert tomllib.loads(f"x = {value(time)}")["x"] == time
    assert isinstance(time, dt.datetime)
