import pytest

from discreet.data.catalog.sources import find_sources
from discreet.data.engines import formats
from discreet.errors import InvalidInput


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def test_files_become_tables(tmp_path):
    (tmp_path / "sub").mkdir()
    words = [
        put(tmp_path, "People 2024.csv", "a;b\n1;2\n"),
        put(tmp_path / "sub", "people_2024.tsv", "\ufeffa\tb\n1\t2\n"),
        put(tmp_path, "1.csv", "2019,2020,name\n1,2,x\n"),
    ]
    found = find_sources(words, base=tmp_path)
    assert found.engine_url == "duckdb:"
    assert found.tables == {
        "people_2024": "People 2024.csv",
        "people_2024_2": "sub/people_2024.tsv",
        "t_1": "1.csv",
    }


def test_database_tables(tmp_path):
    words = ["postgresql://me@host:5/db/tax.people", "postgresql://me@host:5/db/tax.visits"]
    found = find_sources(words, base=tmp_path)
    assert found.engine_url == "postgresql://me@host:5/db"
    assert found.tables == {"people": "tax.people", "visits": "tax.visits"}
    found = find_sources([f"duckdb:{tmp_path}/shop.duckdb/orders"], base=tmp_path)
    assert (found.engine_url, found.tables) == ("duckdb:shop.duckdb", {"orders": "orders"})


SECRET = "SECRET-77"
BAD = {
    "empty": ("a.csv", "", "is empty"),
    "blank heading": ("a.csv", "\n1,2\n", "must hold the column names"),
    "no heading": ("a.csv", f"39,{SECRET},13\n40,x,14\n", "column 1 is a number"),
    "no heading, date": ("a.csv", f"{SECRET},2020-01-02\nx,y\n", "column 2 is a number"),
    "a name is missing": ("a.csv", f"{SECRET},,b\n1,2,3\n", "Column 2 .* has no name"),
    "twins": ("a.csv", f"{SECRET},b,{SECRET}\n1,2,3\n", "Columns 1 and 3"),
    "twins by case": ("a.csv", "b,a,A\n1,2,3\n", "Columns 2 and 3"),
    "no rows": ("a.csv", "a,b\n", "no rows"),
    "binary": ("a.csv", b"a,b\n\0\0\n", "NUL"),
    "cut-off letter": ("a.csv", "a,b\n1,é".encode()[:-1], "not whole UTF-8"),
    "half a workbook": ("a.xlsx", "PK", "."),
    "false parquet": ("a.parquet", "a,b\n1,2\n", "not what its ending"),
    "false csv": ("a.csv", b"PAR1....", "not what its ending"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_have_one_sentence_without_a_cell(name, tmp_path):
    file, content, words = BAD[name]
    with pytest.raises(InvalidInput, match=words) as error:
        find_sources([put(tmp_path, file, content)], base=tmp_path)
    assert SECRET not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "at least one"),
        (["nothing.csv"], "no file 'nothing.csv'"),
        (["."], "holds no file"),
        (["postgresql://h/db"], "Say which table"),
        (["duckdb:x.duckdb"], "Say which table"),
        (["postgresql://h/db/t", "x.csv"], "one engine"),
        (["postgresql://h/db/t", "postgresql://h/other/t"], "several databases"),
    ],
)
def test_words_that_name_no_table(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=sentence):
        find_sources(words, base=tmp_path)


def test_an_unreadable_file(tmp_path, monkeypatch):
    word = put(tmp_path, "a.csv", "a\n1\n")

    def refuse(*_args, **_options):
        raise PermissionError

    monkeypatch.setattr(formats, "open_regular", refuse)
    with pytest.raises(InvalidInput, match="cannot be read"):
        find_sources([word], base=tmp_path)
