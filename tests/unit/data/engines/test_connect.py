from __future__ import annotations

import pytest

from discreet.data.engines.connect import connect
from discreet.errors import CatalogError


def test_unknown_engines_and_missing_files_are_named(tmp_path):
    with pytest.raises(CatalogError, match="oracle"):
        connect("oracle://x", {}, base=tmp_path)
    with pytest.raises(CatalogError, match=r"none\.duckdb"):
        connect("duckdb:none.duckdb", {}, base=tmp_path)
