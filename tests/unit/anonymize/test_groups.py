import datetime as dt
import sys

import numpy as np
import pyarrow as pa
import pytest

from discreet.anonymize.groups import group_table, numbers_of, packed, spelled
from discreet.errors import InvalidInput
from patience import LONG

TABLE = pa.table(
    {
        "sex": ["f", "m", "f", None, "f"],
        "age": [30, 9, 30, 9, None],
        "ill": ["b", "a", "a", "a", "a"],
    }
)


def test_rows_are_counted_by_combination():
    groups = group_table(TABLE, ["sex", "age"])
    assert groups.values == (("f", "m", None), (9, 30, None)), "in order, missing last"
    cells = {
        tuple(groups.values[j][groups.codes[j, i]] for j in range(2)): int(groups.rows[i])
        for i in range(groups.combinations)
    }
    assert cells == {("f", 30): 2, ("m", 9): 1, (None, 9): 1, ("f", None): 1}
    assert groups.total == 5


def test_counts_of_a_group_by_are_added_up():
    table = TABLE.append_column("n", pa.array([2, 1, 3, 1, 1]))
    groups = group_table(table, ["sex"], sensitive="ill", count="n")
    assert dict(zip(groups.values[0], groups.rows.tolist(), strict=True)) == {
        "f": 6,
        "m": 1,
        None: 1,
    }
    beside = groups.sensitive
    found = {
        (groups.values[0][groups.codes[0, g]], beside.values[c]): r
        for g, c, r in zip(
            beside.group.tolist(), beside.codes.tolist(), beside.rows.tolist(), strict=True
        )
    }
    assert found == {("f", "a"): 4, ("f", "b"): 2, ("m", "a"): 1, (None, "a"): 1}


def test_nan_is_missing_and_dictionaries_and_decimals_are_read():
    table = pa.table(
        {
            "x": pa.array([1.5, float("nan"), None]),
            "d": pa.array(["a", "b", "a"]).dictionary_encode(),
            "n": pa.array([1, 2, 1]).cast(pa.decimal128(22, 2)),
        }
    )
    groups = group_table(table, ["x", "d", "n"])
    assert groups.values == ((1.5, None), ("a", "b"), (1.0, 2.0))


def test_groups_hide_what_they_hold():
    text = repr(group_table(TABLE, ["sex", "age"], sensitive="ill"))
    assert "30" not in text
    assert "'f'" not in text


@pytest.mark.parametrize(
    ("quasi", "sensitive", "said"),
    [
        ([], None, "No quasi-identifier"),
        (["zip"], None, "no column 'zip'"),
        (["sex"], "zip", "no column 'zip'"),
        (["sex", "sex"], None, "named twice"),
        (["sex"], "sex", "both a quasi-identifier and the sensitive"),
    ],
)
def test_columns_that_make_no_sense_are_refused(quasi, sensitive, said):
    with pytest.raises(InvalidInput, match=said):
        group_table(TABLE, quasi, sensitive=sensitive)


def test_no_rows_are_refused():
    with pytest.raises(InvalidInput, match="no rows"):
        group_table(TABLE.slice(0, 0), ["sex"])


def test_keys_are_equal_exactly_where_columns_are():
    dice = np.random.default_rng(1)
    columns = [dice.integers(0, 2**20, 50) % 3 * 2**18 for _ in range(9)]
    key, limit = packed(columns, [2**20] * 9)  # far beyond 64 bits
    rows = list(zip(*(c.tolist() for c in columns), strict=True))
    assert len(set(key.tolist())) == len(set(rows))
    assert len(set(zip(rows, key.tolist(), strict=True))) == len(set(rows))
    assert key.max() < limit


def test_values_are_spelled_as_files_write_them():
    day = dt.date(1999, 12, 31)
    assert [spelled(v) for v in (None, True, 3, 2.5, "x", day)] == [
        "",
        "true",
        "3",
        "2.5",
        "x",
        "1999-12-31",
    ]


def test_reading_numbers_does_not_import_pandas(tmp_path):
    import subprocess

    code = (
        "import sys, io, pyarrow.csv as c\n"
        "from discreet.anonymize.groups import group_table\n"
        "t = c.read_csv(io.BytesIO(b'a,b\\nx,1\\ny,2\\n'))\n"
        "group_table(t, ['a', 'b'])\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LONG)


def test_empty_arrays_have_no_numbers():
    assert numbers_of(pa.array([], pa.int32())).tolist() == []
