from fractions import Fraction

import pytest

from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import CategoryDomain, IntegerDomain, NumberDomain, Refresh, TextDomain
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.catalog import load, loads
from discreet.errors import CatalogError, DiscreetError, NotReviewed, UnknownName

DESIGN = """
[engine]
url = "duckdb:"                      # or "postgresql://...", "spark://local[*]"
[ledger]
url = "sqlite:ledger.db"             # or "postgresql://..."

[datasets.census]
epsilon = 1.0
delta = 1e-9                         # 0 or absent: the pure-epsilon currency
neighbours = "add-remove"            # or "replace-one"

[datasets.census.tables.people]
source = "people.parquet"
unit = "row"                         # or the name of the column that says whose row it is
[datasets.census.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
sex = { type = "category", values = ["Female", "Male"] }
job = { type = "category", values_from = "jobs.csv" }
income = { type = "number", lower = 0, upper = 500000, step = 0.01 }
note = { type = "text", hidden = true }

[analysts.alice]
datasets = { census = { epsilon = 0.5 } }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "jobs.csv").write_text("job,title\nA1,Baker\nB2,Cook\n")
    (tmp_path / "discreet.toml").write_text(DESIGN)
    return tmp_path


def table(columns: str = 'age = { type = "integer", lower = 0, upper = 9 }', **settings) -> str:
    lines = {"source": '"p.csv"', "unit": '"row"', **settings}
    head = "".join(f"{key} = {value}\n" for key, value in lines.items() if value is not None)
    return f"[datasets.d.tables.t]\n{head}[datasets.d.tables.t.columns]\n{columns}\n"


def dataset(head: str = "epsilon = 1", **settings) -> str:
    return f"[datasets.d]\n{head}\n" + table(**settings)


def test_the_design_example_reads_as_written(folder):
    catalog = load(folder / "discreet.toml")
    people = catalog.table("PEOPLE")
    assert people.source == "people.parquet"
    assert people.unit == PrivacyUnit()
    assert people.max_rows == 1
    assert people.column("age").domain == IntegerDomain(0, 120)
    assert people.column("sex").domain == CategoryDomain(("Female", "Male"))
    assert people.column("job").domain == CategoryDomain(("A1", "B2"))
    cents = NumberDomain(Fraction(0), Fraction(500_000), Fraction(1, 100))
    assert people.column("income").domain == cents
    assert people.column("note").domain == TextDomain()
    assert people.column("note").hidden
    budget = catalog.budget_of(catalog.dataset("census"))
    assert (budget.epsilon, budget.delta) == (Epsilon.of(1), Delta.of("1e-9"))
    assert budget.neighbours is Neighbours.ADD_REMOVE
    cap = catalog.cap("alice", catalog.dataset("census"))
    assert (cap.epsilon, cap.delta) == (Epsilon.of("0.5"), budget.delta)
    assert catalog.engine_url == "duckdb:"
    assert catalog.ledger_url == "sqlite:ledger.db"
    assert not catalog.accepted
    assert catalog.base == folder
    assert catalog.warnings == ()


def test_a_folder_means_its_file(folder):
    assert load(folder).path == folder / "discreet.toml"


def test_amounts_are_the_decimals_that_were_written(tmp_path):
    catalog = loads(dataset("epsilon = 0.1\ndelta = 1e-5"), base=tmp_path)
    assert catalog.budgets["d"].epsilon.value == Fraction(1, 10)
    assert catalog.budgets["d"].delta.value == Fraction(1, 100_000)


def test_absent_delta_is_pure(tmp_path):
    assert loads(dataset(), base=tmp_path).budgets["d"].delta == Delta.of(0)


def test_everything_else_has_a_default(tmp_path):
    catalog = loads("", base=tmp_path)
    assert (catalog.engine_url, catalog.ledger_url) == ("duckdb:", "sqlite:ledger.db")
    assert catalog.datasets == {}


SHARED = """
[budgets.people]
epsilon = 2
delta = 1e-6
neighbours = "replace-one"
[datasets.a]
budget = "people"
[datasets.a.tables.visits]
source = "a.csv"
unit = "person"
max_rows = 3
[datasets.a.tables.visits.columns]
cost = { type = "integer", lower = 0, upper = 9 }
[datasets.b]
budget = "people"
[datasets.b.tables.taxes]
source = "b.csv"
unit = "citizen"
[datasets.b.tables.taxes.columns]
citizen = { type = "identifier" }
"""


def test_two_datasets_may_share_a_budget(tmp_path):
    catalog = loads(SHARED, base=tmp_path)
    a, b = catalog.dataset("a"), catalog.dataset("b")
    assert catalog.budget_of(a) is catalog.budget_of(b)
    assert a.neighbours is b.neighbours is Neighbours.REPLACE_ONE
    assert set(catalog.budgets) == {"people"}
    assert a.tables[0].unit == PrivacyUnit("person")
    assert a.tables[0].column("person").domain.words() == "identifier"
    assert a.tables[0].max_rows == 3
    assert b.tables[0].max_rows is None
    assert any("max_rows" in warning for warning in catalog.warnings)


def test_analysts_caps_by_budget(tmp_path):
    text = SHARED + "[analysts.eve]\ndatasets = { a = { epsilon = 1 }, b = { epsilon = 1 } }\n"
    caps = loads(text, base=tmp_path).caps_by_budget("eve")
    assert {name: cap.epsilon for name, cap in caps.items()} == {"people": Epsilon.of(1)}


def test_a_cap_above_the_total_is_a_warning(tmp_path):
    text = dataset() + "[analysts.eve]\ndatasets = { d = { epsilon = 5 } }\n"
    assert any("above the total" in warning for warning in loads(text, base=tmp_path).warnings)


def test_engine_limits(tmp_path):
    found = loads(dataset('epsilon = 1\nseconds = 2.5\nmemory = "4 GB"'), base=tmp_path)
    assert found.dataset("d").seconds == Fraction(5, 2)
    assert found.dataset("d").memory_mb == 4000


def test_public_tables_have_no_unit(tmp_path):
    text = dataset(unit=None, public="true", key_copies="2")
    found = loads(text, base=tmp_path).table("t")
    assert found.public
    assert found.max_rows == 2


def test_a_proposal_without_a_budget_is_refused_when_asked(tmp_path):
    catalog = loads("[datasets.d]\n" + table(unit=None), base=tmp_path)
    for ask in (lambda: catalog.dataset("d"), lambda: catalog.table("t")):
        with pytest.raises(NotReviewed) as error:
            ask()
        assert "epsilon" in str(error.value)
        assert "unit of table 't'" in str(error.value)


def test_an_unfinished_dataset_does_not_stop_the_others(tmp_path):
    text = dataset() + '[datasets.e.tables.u]\nsource = "u.csv"\n'
    catalog = loads(text, base=tmp_path)
    assert catalog.table("t").name == "t"
    with pytest.raises(NotReviewed):
        catalog.table("u")


def test_forty_thousand_codes(tmp_path):
    (tmp_path / "codes.txt").write_text("".join(f"C{i:05}\n" for i in range(40_000)))
    text = dataset(columns='code = { type = "category", values_from = "codes.txt" }')
    assert loads(text, base=tmp_path).table("t").column("code").domain.size == 40_000


INTEGER = 'x = {{ type = "integer", {} }}'
BAD = {
    "toml syntax": ("[datasets.d\n", ["line 1"]),
    "unknown section": ("[dataset.d]\nepsilon = 1\n", ["dataset", "Did you mean 'datasets'?"]),
    "unknown dataset key": (dataset("epsilonn = 1"), ["'d'", "Did you mean 'epsilon'?"]),
    "unknown table key": (dataset(sorce='"x"'), ["'t'", "'d'", "Did you mean 'source'?"]),
    "unknown column key": (
        dataset(columns=INTEGER.format("lowr = 0")),
        ["column 'x'", "table 't'", "Did you mean 'lower'?"],
    ),
    "far-off key": (dataset("zzz = 1"), ["'zzz'", "It may have: epsilon"]),
    "unknown type": (dataset(columns='x = { type = "int" }'), ["'x'", "'int'", "integer, number"]),
    "no type": (dataset(columns="x = { lower = 0 }"), ["'x'", "needs the setting 'type'"]),
    "column is a text": (dataset(columns='x = "integer"'), ["'x'", "table of settings"]),
    "no source": ('[datasets.d]\nepsilon = 1\n[datasets.d.tables.t]\nunit = "row"\n', ["source"]),
    "lower above upper": (
        dataset(columns=INTEGER.format("lower = 9, upper = 1")),
        ["'x'", "table 't'", "lower (9)", "upper (1)"],
    ),
    "bound missing": (dataset(columns=INTEGER.format("lower = 9")), ["'x'", "needs upper"]),
    "bound is a text": (
        dataset(columns=INTEGER.format('lower = "a", upper = 2')),
        ["'x'", "whole numbers"],
    ),
    "bound has decimals": (
        dataset(columns=INTEGER.format("lower = 0.5, upper = 2")),
        ["'x'", "whole numbers"],
    ),
    "bound is true": (
        dataset(columns=INTEGER.format("lower = true, upper = 2")),
        ["'x'", "'lower' must be a finite number"],
    ),
    "bounds too large": (
        dataset(columns=INTEGER.format(f"lower = 0, upper = {2**63}")),
        ["'x'", "too large"],
    ),
    "step does not divide": (
        dataset(columns='x = { type = "number", lower = 0, upper = 1, step = 0.3 }'),
        ["'x'", "upper must be a multiple of step"],
    ),
    "step zero": (
        dataset(columns='x = { type = "number", lower = 0, upper = 1, step = 0 }'),
        ["step must be greater than 0"],
    ),
    "infinite bound": (
        dataset(columns='x = { type = "number", lower = 0, upper = inf }'),
        ["'x'", "finite"],
    ),
    "category twice": (
        dataset(columns='x = { type = "category", values = ["a", "b", "a"] }'),
        ["'x'", "'a' is listed twice"],
    ),
    "category empty": (dataset(columns='x = { type = "category", values = [] }'), ["at least one"]),
    "category without values": (dataset(columns='x = { type = "category" }'), ["values_from"]),
    "category both ways": (
        dataset(columns='x = { type = "category", values = ["a"], values_from = "b.csv" }'),
        ["'x'", "not both"],
    ),
    "values file missing": (
        dataset(columns='x = { type = "category", values_from = "none.csv" }'),
        ["'x'", "none.csv", "cannot be read"],
    ),
    "step on a category": (
        dataset(columns='x = { type = "category", values = ["a"], step = 1 }'),
        ["a category has no 'step'"],
    ),
    "bad date": (
        dataset(columns='x = { type = "date", lower = "2020-13-01", upper = 2020-01-02 }'),
        ["'x'", "2024-12-31"],
    ),
    "bad timestamp": (
        dataset(columns='x = { type = "timestamp", lower = "soon", upper = 2020-01-02 }'),
        ["'x'", "timestamp is written"],
    ),
    "epsilon zero": (dataset("epsilon = 0"), ["'d'", "greater than 0"]),
    "epsilon a text": (dataset('epsilon = "1"'), ["'d'", "'epsilon' must be a number"]),
    "delta one": (dataset("epsilon = 1\ndelta = 1"), ["'d'", "below 1"]),
    "neighbours": (dataset('epsilon = 1\nneighbours = "both"'), ["add-remove", "'both'"]),
    "memory": (dataset('epsilon = 1\nmemory = "lots"'), ["memory is written"]),
    "seconds": (dataset("epsilon = 1\nseconds = 0"), ["seconds must be greater"]),
    "max_rows zero": (dataset(unit='"p"', max_rows="0"), ["'max_rows' must be a whole number"]),
    "max_rows for rows": (dataset(max_rows="2"), ["max_rows is 1"]),
    "key_copies for private": (dataset(key_copies="2"), ["key_copies is for public"]),
    "max_rows for public": (
        dataset(unit=None, public="true", max_rows="2"),
        ["write key_copies instead"],
    ),
    "public with unit": (dataset(public="true"), ["is public, so it has no unit"]),
    "no tables": ("[datasets.d]\nepsilon = 1\n", ["has no tables"]),
    "no columns": (dataset(columns=""), ["declares no columns"]),
    "columns differ in case": (
        dataset(columns='x = { type = "text" }\nX = { type = "text" }'),
        ["'x' and 'X'", "differ only in case"],
    ),
    "columns look the same": (
        dataset(columns='"stra\u00dfe" = { type = "text" }\nSTRASSE = { type = "text" }'),
        ["STRASSE", "differ only in case"],
    ),
    "datasets differ in case": (dataset() + "[datasets.D]\nepsilon = 1\n", ["'d' and 'D'"]),
    "empty name": (dataset(columns='"" = { type = "text" }'), ["must not be empty"]),
    "unknown budget": (dataset('budget = "people"'), ["add [budgets.people]"]),
    "budget twice": (
        dataset('epsilon = 1\nbudget = "p"') + "[budgets.p]\nepsilon = 1\n",
        ["move 'epsilon' to [budgets.p]"],
    ),
    "shared budget without epsilon": (
        dataset('budget = "p"') + "[budgets.p]\ndelta = 0.1\n",
        ["budget 'p'", "needs epsilon"],
    ),
    "budget named as a dataset": (dataset() + "[budgets.d]\nepsilon = 1\n", ["rename it"]),
    "analyst of nothing": (
        dataset() + "[analysts.eve]\ndatasets = { e = { epsilon = 1 } }\n",
        ["'eve'", "unknown dataset 'e'"],
    ),
    "analyst without epsilon": (
        dataset() + "[analysts.eve]\ndatasets = { d = {} }\n",
        ["'eve'", "needs the setting 'epsilon'"],
    ),
    "analyst's caps differ": (
        SHARED + "[analysts.eve]\ndatasets = { a = { epsilon = 1 }, b = { epsilon = 2 } }\n",
        ["shares its budget", "same cap"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_each_mistake_has_one_clear_sentence(name, tmp_path):
    text, words = BAD[name]
    with pytest.raises(DiscreetError) as error:
        loads(text, base=tmp_path)
    assert isinstance(error.value, CatalogError)
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence.startswith("discreet.toml")
    for word in words:
        assert word in sentence


def test_the_same_text_without_the_mistake_is_accepted(tmp_path):
    assert loads(dataset(), base=tmp_path).table("t").column("age")


def test_unreadable_files(tmp_path):
    with pytest.raises(CatalogError, match="There is no file"):
        load(tmp_path / "nothing.toml")
    (tmp_path / "latin.toml").write_bytes(b'[engine]\nurl = "\xe9"\n')
    with pytest.raises(CatalogError, match="not UTF-8"):
        load(tmp_path / "latin.toml")


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    (tmp_path / "discreet.toml").write_bytes(b"\xef\xbb\xbf" + dataset().encode())
    assert load(tmp_path).datasets


def test_an_analyst_who_is_not_listed(folder):
    catalog = load(folder)
    with pytest.raises(UnknownName, match="no analyst 'mallory'"):
        catalog.cap("mallory", catalog.dataset("census"))


EVE = "\n[analysts.eve]\ndatasets = { d = { epsilon = 1 } }\n"
LIVE = '[engine]\nurl = "postgresql://h/d"\n'


@pytest.mark.parametrize(
    ("text", "refresh"),
    [
        (dataset(), Refresh.ON_CHANGE),
        (LIVE + dataset(source='"t"'), Refresh.ON_CHANGE),
        (dataset() + EVE, Refresh.MANUAL),
        (LIVE + dataset(source='"t"') + EVE, Refresh.DAILY),
        (LIVE + dataset(source='"t"', snapshot='"live"') + EVE, Refresh.DAILY),
        (LIVE + dataset(source='"t"', snapshot='"copy"') + EVE, Refresh.MANUAL),
        (LIVE + dataset(source='"t"', version='"1"') + EVE, Refresh.MANUAL),
        (dataset('epsilon = 1\nrefresh = "on-change"') + EVE, Refresh.ON_CHANGE),
        (dataset('epsilon = 1\nrefresh = "weekly"'), Refresh.WEEKLY),
    ],
    ids=str,
)
def test_newer_rows_are_read_at_times_that_tell_nothing_where_analysts_ask(text, refresh, tmp_path):
    assert loads(text, base=tmp_path).dataset("d").refresh is refresh


def test_one_table_that_is_read_live_gives_its_dataset_a_period(tmp_path):
    copied = LIVE + dataset(source='"t"', snapshot='"copy"')
    for source, refresh in (('"u"', Refresh.DAILY), ('"u"\nsnapshot = "copy"', Refresh.MANUAL)):
        other = table(source=source).replace("tables.t", "tables.u")
        assert loads(copied + other + EVE, base=tmp_path).dataset("d").refresh is refresh
