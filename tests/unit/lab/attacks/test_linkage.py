import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks import linkage
from discreet.lab.attacks.linkage import ATTACK, most_right
from discreet.privacy.noise.error_bars import lower_limit

ASKED, EPSILON = 80, 0.3


@pytest.fixture(scope="module")
def outcome():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkage, "ASKED", ASKED)
        return ATTACK.run({"people": 12_000, "epsilon": EPSILON})


def test_the_town(outcome):
    details = outcome.to_json()["details"]
    assert 0.63 <= details["unique_share"] <= 0.87
    assert details["identified"]["low"] > 0.75
    assert details["identified"]["control"] < 0.01  # the shuffled roll finds nobody
    assert details["precision"] > 0.95
    assert outcome.score.low > outcome.score.baseline + 0.3
    json.dumps(outcome.to_json())


def test_a_curator_gives_less_than_the_file(outcome):
    """The limit lies above what epsilon promises in fewer than one of 10^9 correct runs."""

    def surely(success):
        return lower_limit(round(success * ASKED), ASKED, 1e-9)

    promised = most_right(outcome.score.baseline, EPSILON)
    assert outcome.private is not None
    assert surely(outcome.private.success) <= promised
    assert outcome.private.success < outcome.score.low
    # The file itself breaks the promise: a release without noise would be caught.
    assert surely(outcome.score.success) > promised


def test_fewer_columns_find_fewer_people(outcome):
    shares = outcome.details["unique_share_by_columns"]
    assert shares["zip + birth_date + sex"] > shares["zip + birth_date"] > shares["zip"]
    assert len(shares) == 7


def files(folder, first, second):
    pq.write_table(pa.table(first), folder / "released.parquet")
    pq.write_table(pa.table(second), folder / "auxiliary.parquet")
    return {
        "released": str(folder / "released.parquet"),
        "auxiliary": str(folder / "auxiliary.parquet"),
    }


PEOPLE = {
    "zip": [f"0{i % 7}" for i in range(60)],
    "born": [f"19{50 + i % 43}-01-0{1 + i % 9}" for i in range(60)],
    "who": list(range(60)),
}


def test_two_files_with_a_key(tmp_path):
    outcome = ATTACK.run({**files(tmp_path, PEOPLE, PEOPLE), "key": "who"})
    assert outcome.score.success == 1.0
    assert outcome.score.baseline < 0.2
    assert outcome.private is None
    assert set(outcome.details["unique_share_by_columns"]) == {"zip", "born", "zip + born"}


def test_two_files_without_a_key_are_counted_not_scored(tmp_path):
    given = files(tmp_path, PEOPLE, PEOPLE)
    outcome = ATTACK.run({**given, "columns": "ZIP,born"})
    assert "nobody knows whether rightly" in outcome.score.measure
    assert outcome.score.success == 1.0


def test_a_private_copy_is_attacked_in_the_same_way(tmp_path):
    given = files(tmp_path, PEOPLE, PEOPLE)
    strangers = {**PEOPLE, "born": [f"18{50 + i % 43}-01-01" for i in range(60)]}
    pq.write_table(pa.table(strangers), tmp_path / "copy.parquet")
    outcome = ATTACK.run(
        {**given, "columns": "zip,born", "private": str(tmp_path / "copy.parquet")}
    )
    assert outcome.private is not None
    assert outcome.private.success == 0.0


def test_rows_of_one_person_count_once(tmp_path):
    twice = {name: [*values, *values] for name, values in PEOPLE.items()}
    given = files(tmp_path, twice, PEOPLE)
    assert ATTACK.run({**given, "key": "who"}).score.success == 0.0  # two rows: two people?
    assert ATTACK.run({**given, "key": "who", "person": "who"}).score.success == 1.0


def test_two_csv_files_that_differ_by_slips(tmp_path):
    many = 300
    born = [f"{1930 + i % 70}-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(many)]
    town = [f"{10_000 + 37 * (i % 50)}" for i in range(many)]
    late = [f"{day[:-2]}{int(day[-2:]) % 28 + 1:02d}" for day in born]
    name = [f"name {i % 150}" for i in range(many)]
    rows = zip(name, town, born, range(many), strict=True)
    slips = zip(name, town, born[:200] + late[200:], range(many), strict=True)
    for file, head, lines in (
        ("a.csv", "Name;ZIP;Born;who", rows),
        ("b.csv", "name;zip;born;who", slips),
    ):
        text = "\n".join([head, *(";".join(map(str, line)) for line in lines)])
        (tmp_path / file).write_text(text, encoding="utf-8")
    given = {
        "released": str(tmp_path / "a.csv"),
        "auxiliary": str(tmp_path / "b.csv"),
        "key": "who",
    }
    exact = ATTACK.run(given)
    fuzzy = ATTACK.run({**given, "fuzzy": "yes", "days": 1, "prefix": 0})
    assert exact.score.success == pytest.approx(2 / 3)
    assert fuzzy.score.success > 0.95


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"columns": "age"}, "no column 'age'"),
        ({"auxiliary": ""}, "Only one file"),
        ({"key": "nobody"}, "no column 'nobody'"),
        ({"released": "missing.csv"}, "no file"),
    ],
)
def test_wrong_files(tmp_path, change, words):
    with pytest.raises(InvalidInput, match=words):
        ATTACK.run({**files(tmp_path, PEOPLE, PEOPLE), **change})


def test_files_without_common_columns(tmp_path):
    with pytest.raises(InvalidInput, match="no column in common"):
        ATTACK.run(files(tmp_path, {"a": [1]}, {"b": [1]}))
    strangers = {**PEOPLE, "who": [i + 100 for i in PEOPLE["who"]]}
    with pytest.raises(InvalidInput, match="nobody is in both"):
        ATTACK.run({**files(tmp_path, PEOPLE, strangers), "key": "who"})


def test_the_town_has_three_columns_in_common():
    with pytest.raises(InvalidInput, match="zip, birth_date, sex"):
        ATTACK.run({"columns": "zip,income"})


@pytest.mark.slow
def test_a_million_people():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkage, "ASKED", 5)
        outcome = ATTACK.run({"people": 1_000_000, "fuzzy": "yes"})
    assert 0.63 <= outcome.details["unique_share"] <= 0.87
