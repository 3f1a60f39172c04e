"""Texts in the encodings that people's programs write are the same rows on every engine of files."""

from __future__ import annotations

import codecs
import gzip
from contextlib import closing

import pytest

import discreet
from discreet.data.engines.connect import connect
from discreet.errors import CatalogError
from engines import LIMITS, SPARK, rows
from engines import name as column

ENGINES = [
    pytest.param("duckdb:", id="duckdb"),
    pytest.param(SPARK, id="spark", marks=pytest.mark.spark),
]
TEXT = 'größe,stadt\r\n1,Köln\r\n2,"Zü""rich,\n€"\r\n3,\r\n4,Ærø\r\n'
LATIN = TEXT.replace("€", "ß")
FILES = {
    "latin": ("latin-1", LATIN.encode("latin-1")),
    "windows": ("windows-1252", TEXT.encode("cp1252")),
    "little": ("utf-16-le", TEXT.encode("utf-16-le")),
    "big": ("utf-16-be", TEXT.encode("utf-16-be")),
    "wide": ("utf-16", TEXT.encode("utf-16-le")),
    "marked": ("utf-16-le", codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be")),
    "said": ("", codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le")),
    "sign": ("", TEXT.encode("utf-8-sig")),
    "plain": ("utf-8", TEXT.encode()),
    "packed": ("latin-1", gzip.compress(LATIN.encode("latin-1"))),
}
"""What is declared, and the bytes: a mark at the beginning comes before what is declared."""


def sources(folder) -> dict[str, str]:
    for name, (_, content) in FILES.items():
        (folder / f"{name}.csv{'.gz' if name == 'packed' else ''}").write_bytes(content)
    return {name: f"{name}.csv{'.gz' if name == 'packed' else ''}" for name in FILES}


def opened(url, folder, found, encodings):
    return closing(connect(url, found, base=folder, limits=LIMITS, encodings=encodings))


@pytest.mark.parametrize("url", ENGINES)
def test_every_encoding_gives_the_same_rows(url, tmp_path):
    declared = {name: encoding for name, (encoding, _) in FILES.items() if encoding}
    with opened(url, tmp_path, sources(tmp_path), declared) as engine:
        size = column(engine, "größe")
        asked = [
            f"SELECT '{name}' AS f, CAST({size} AS INT) AS s, stadt FROM {engine.relation(name)} AS t"
            for name in FILES
        ]
        found = rows(engine, " UNION ALL ".join(asked))
    for name in FILES:
        last = "ß" if name in ("latin", "packed") else "€"
        wanted = [(1, "Köln"), (2, f'Zü"rich,\n{last}'), (3, None), (4, "Ærø")]
        assert [row[1:] for row in found if row[0] == name] == wanted, name


TOML = """
[engine]
url = "{url}"
[datasets.town]
epsilon = 1000000
[datasets.town.tables.people]
source = "*.csv"
encoding = "{encoding}"
unit = "row"
{copy}
[datasets.town.tables.people.columns]
size = {{ type = "integer", lower = 0, upper = 9 }}
stadt = {{ type = "category", values = ["Köln", "KÃ¶ln", "Ærø"] }}
"""
ASKED = "SELECT stadt, SUM(size) AS s FROM people GROUP BY stadt"


def answered(folder, **words) -> dict[str, int]:
    (folder / "discreet.toml").write_text(TOML.format(**words), encoding="utf-8")
    with discreet.open(folder / "discreet.toml") as curator:
        return dict(curator.query(ASKED, epsilon=10000).rows)


@pytest.mark.parametrize("url", ENGINES)
def test_questions_read_the_declared_encoding(url, tmp_path):
    """Also of several files, and of copies that were made while another one was declared."""
    (tmp_path / "a.csv").write_bytes("size,stadt\n7,Köln\n".encode())
    (tmp_path / "b.csv").write_bytes("stadt,size\nÆrø,5\n".encode())
    words = {"url": url, "copy": 'snapshot = "copy"' if url == SPARK else ""}
    wrong = answered(tmp_path, encoding="latin-1", **words)
    assert wrong == {"Köln": 0, "KÃ¶ln": 7, "Ærø": 0}
    right = answered(tmp_path, encoding="utf-8", **words)
    assert right == {"Köln": 7, "KÃ¶ln": 0, "Ærø": 5}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("source", "content"),
    [
        ("s3a://bucket/people.csv", b""),
        ("people.csv", gzip.compress(LATIN.encode("latin-1"))),
        ("people.csv", LATIN.replace("\r\n", "\r").encode("latin-1")),
    ],
    ids=["remote", "packed under another name", "carriage returns"],
)
def test_what_spark_would_read_otherwise_is_refused(source, content, tmp_path):
    (tmp_path / "people.csv").write_bytes(content)
    with (
        pytest.raises(CatalogError),
        opened(SPARK, tmp_path, {"people": source}, {"people": "latin-1"}) as engine,
    ):
        engine.columns("people")
