"""Public files are read as the engine reads private ones: the same cells get the same codes."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from discreet.errors import InvalidInput
from discreet.measure.columns import Bins, outline_of, scan_of
from discreet.measure.sealing import seal_codes
from discreet.work.learn.features import chosen_items, encoding_of
from discreet.work.learn.private_rows import fetch
from discreet.work.learn.read_file import codes_of_table, read_table
from discreet.work.learn.training_plan import find_private
from learning import curator, people
from permits import paid


def test_the_same_codes_as_in_the_engine(tmp_path):
    table = people(500)
    asked = curator(tmp_path, table=table)
    assert find_private(asked.catalog, "people")[1].name == "people"
    outline = outline_of(asked.catalog, "town.people", bins=Bins.AUTO, has_delta=True)
    items = chosen_items(outline, "rich", ())
    columns = encoding_of("people", items[:-1], items[-1]).coded
    sealed = seal_codes(scan_of(asked.catalog, "town.people"), asked.engine, columns)
    with asked.engine.hold({}) as held:
        private = fetch(paid(held), sealed)
    csv.write_csv(table, tmp_path / "rows.csv")
    public = codes_of_table(read_table(tmp_path / "rows.csv"), columns)
    order = [np.lexsort(found.T) for found in (private, public)]
    assert (private[order[0]] == public[order[1]]).all()


def test_rows_cannot_be_fetched_without_a_receipt(tmp_path):
    with pytest.raises(TypeError, match="charge"):
        fetch(None, None)


def test_a_file_without_a_needed_column(tmp_path):
    csv.write_csv(pa.table({"age": [1]}), tmp_path / "rows.csv")
    asked = curator(tmp_path)
    outline = outline_of(asked.catalog, "town.people", bins=Bins.AUTO, has_delta=True)
    items = chosen_items(outline, "rich", ("age", "sex"))
    with pytest.raises(InvalidInput, match="no column 'sex'"):
        codes_of_table(
            read_table(tmp_path / "rows.csv"), encoding_of("p", items[:-1], items[-1]).coded
        )
