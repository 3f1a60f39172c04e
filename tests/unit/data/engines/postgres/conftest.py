from __future__ import annotations

import pyarrow as pa
import pytest


@pytest.fixture
def url():
    from engines import fill_postgres, own, postgres_url

    url = postgres_url()
    own("DROP SCHEMA discreet_state CASCADE", "CREATE SCHEMA discreet_state")
    own("GRANT USAGE, CREATE ON SCHEMA discreet_state TO discreet_reader")
    fill_postgres(url, {"t": pa.table({"a": [1, 2, 3, 51, 52]})})
    yield url
    own("DROP OPERATOR IF EXISTS public.@#@ (NONE, BIGINT) CASCADE")
