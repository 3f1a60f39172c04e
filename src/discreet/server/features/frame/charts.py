"""The chart library: bundled once from an installed package, kept in the state, never fetched."""

from __future__ import annotations

import threading
from importlib.metadata import version
from pathlib import Path

from discreet.base.files import write_whole
from discreet.base.packages import needs

FOLDER = "cache"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"

_building = threading.Lock()


def chart_bundle(state: Path) -> Path:
    """Return the file with Vega, Vega-Lite and Vega-Embed; made on first use (a few seconds)."""
    with needs("vl-convert-python", extra="server"):
        import vl_convert
    target = state / FOLDER / f"charts-{version('vl-convert-python')}.js"
    with _building:
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, vl_convert.javascript_bundle(_SNIPPET))
    return target
