from concurrent.futures import ThreadPoolExecutor

import pytest
import vl_convert

from discreet.server.features.frame.charts import chart_bundle


@pytest.fixture
def bundled(monkeypatch):
    calls = []

    def bundle(snippet):
        calls.append(snippet)
        return "window.vegaEmbed = 1; // made-up"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    return calls


def test_the_library_is_bundled_once_and_kept(tmp_path, bundled):
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: chart_bundle(tmp_path), range(16)))
    assert len(found) == 1
    assert len(bundled) == 1
    assert found.pop().read_text(encoding="utf-8").startswith("window.vegaEmbed")
    assert len(list((tmp_path / "cache").iterdir())) == 1, "no rough copy is left behind"


def test_a_failed_bundle_leaves_nothing_that_looks_whole(tmp_path, monkeypatch):
    def broken(_snippet):
        raise RuntimeError

    monkeypatch.setattr(vl_convert, "javascript_bundle", broken)
    with pytest.raises(RuntimeError):
        chart_bundle(tmp_path)
    assert not list(tmp_path.rglob("*.js"))
