"""A chart as SVG that takes the colours of the page around it; drawn without any network."""

from __future__ import annotations

import json
import re
from typing import Any

from discreet.core.system.extras import needs
from discreet.errors import InternalError
from discreet.report.style import CHART, LIGHT

_ACTIVE = re.compile(r"<(script|image|a|foreignObject|style|use)[\s>/]", re.IGNORECASE)
_COLOURED = re.compile(r'\b(fill|stroke)="(#[0-9a-fA-F]{3,6})"')
_ROOM = {"left": 28, "right": 12, "top": 6, "bottom": 20}
"""Around the chart, since the reader's font may be wider than the one that was measured."""
_BY_COLOUR = {colour: name for name, colour in LIGHT.items()}


def to_svg(spec: dict[str, Any]) -> str:
    """Return the chart as SVG whose colours are the variables --ink, --accent and so on."""
    whole = {
        **spec,
        "config": {**CHART, **spec.get("config", {})},
        "background": None,
        "padding": _ROOM,
    }
    drawn = str(_converter().vegalite_to_svg(json.dumps(whole), allowed_base_urls=[]))
    if _ACTIVE.search(drawn):
        # The text of labels is escaped, so this is a mark that a report must not use.
        raise InternalError("a figure of a report may hold shapes and text only")
    return _COLOURED.sub(_variable, drawn)


def _variable(found: re.Match[str]) -> str:
    name = _BY_COLOUR.get(found[2].lower())
    return found[0] if name is None else f'{found[1]}="var(--{name})"'


def _converter() -> Any:
    with needs("vl-convert-python", extra="plot"):
        import vl_convert
    return vl_convert
