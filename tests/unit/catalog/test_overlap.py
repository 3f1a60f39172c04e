import pytest

from discreet.catalog import loads
from discreet.errors import CatalogError


def table(dataset, name, source, unit="row"):
    return (
        f'[datasets.{dataset}.tables.{name}]\nsource = "{source}"\nunit = "{unit}"\n'
        f'[datasets.{dataset}.tables.{name}.columns]\nx = {{ type = "boolean" }}\n'
    )


def budget(dataset, words="epsilon = 1"):
    return f"[datasets.{dataset}]\n{words}\n"


def test_one_source_under_two_budgets_is_refused(tmp_path):
    text = budget("a") + table("a", "t", "x.csv") + budget("b") + table("b", "u", "./y/../x.csv")
    with pytest.raises(CatalogError, match="in two datasets, 'a' and 'b'"):
        loads(text, base=tmp_path)
    assert loads(text.replace("./y/../x.csv", "z.csv"), base=tmp_path)


def test_a_pattern_that_holds_another_source_is_refused(tmp_path):
    text = budget("a") + table("a", "t", "part-*.csv")
    text += budget("b") + table("b", "u", "part-1.csv")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)


def test_a_link_to_another_source_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("x\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "x.csv")
    text = budget("a") + table("a", "t", "x.csv") + budget("b") + table("b", "u", "link.csv")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)


def test_files_beside_a_database_are_compared_as_files(tmp_path):
    text = '[engine]\nurl = "duckdb:shop.duckdb"\n'
    text += budget("a") + table("a", "t", "x.csv") + budget("b") + table("b", "u", "./x.csv")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)


def test_files_whose_names_look_like_tables_are_files(tmp_path):
    text = budget("a") + table("a", "t", "people.csv")
    assert loads(text + budget("b") + table("b", "u", "public.people.csv"), base=tmp_path)


def test_a_database_table_by_two_names_is_refused(tmp_path):
    text = '[engine]\nurl = "postgresql://h/d"\n'
    text += budget("a") + table("a", "t", "people") + budget("b") + table("b", "u", "public.people")
    with pytest.raises(CatalogError, match="separate budgets"):
        loads(text, base=tmp_path)
    assert loads(text.replace("public.people", "tax.people"), base=tmp_path)


def test_one_source_may_be_in_two_datasets_that_share_a_budget(tmp_path):
    shared = 'budget = "p"'
    text = "[budgets.p]\nepsilon = 1\n" + budget("a", shared) + table("a", "t", "x.csv")
    assert loads(text + budget("b", shared) + table("b", "u", "x.csv"), base=tmp_path)


def test_rows_cannot_be_in_two_tables_of_a_dataset(tmp_path):
    # Rows of different tables are billed as different people, so these would pay half.
    text = budget("a") + table("a", "t", "x.csv") + table("a", "u", "x.csv")
    with pytest.raises(CatalogError, match="declared as two tables, 't' and 'u'"):
        loads(text, base=tmp_path)


def test_people_may_be_in_two_tables_of_a_dataset(tmp_path):
    text = budget("a") + table("a", "t", "x.csv", "who") + table("a", "u", "x.csv", "who")
    assert loads(text, base=tmp_path)


@pytest.mark.parametrize("shared", [True, False])
def test_mixed_units_are_refused(tmp_path, shared):
    if shared:
        words = 'budget = "p"'
        text = "[budgets.p]\nepsilon = 1\n" + budget("a", words) + table("a", "t", "x.csv")
        text += budget("b", words) + table("b", "u", "y.csv", "who")
    else:
        text = budget("a") + table("a", "t", "x.csv") + table("a", "u", "y.csv", "who")
    with pytest.raises(CatalogError, match=r"'t'.*protects rows and table 'u'.*protects people"):
        loads(text, base=tmp_path)
