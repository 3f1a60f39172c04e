"""A sheet to print and cut up: for each person a name, a link that signs in, and its QR code.

The sheet is a secret like the tokens in its links: whoever holds it can sign in as everybody on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from discreet.report.qr import qr_path

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
KEEP = "Yours alone: it signs you in. Keep it like a password."
"""What stands on every card."""

_STYLE = """
body{font:16px/24px ui-sans-serif,system-ui,sans-serif;color:#1d1f21;background:#fff;margin:24px}
h1{font:28px/36px ui-serif,Georgia,serif;margin:0 0 8px}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(300px,100%),1fr));padding:0 1px 1px 0;list-style:none}
.cards li{display:flex;gap:12px;border:1px dashed #5c6166;margin:0 -1px -1px 0;padding:12px;break-inside:avoid}
.cards div{min-width:0}
.cards svg{flex:none;width:132px;height:132px}
.cards strong{display:block;font-size:18px}
.cards code{font:11px/15px ui-monospace,monospace;overflow-wrap:anywhere}
.cards span{display:block;font-size:13px;line-height:18px;color:#5c6166}
@media print{body{margin:0}.cards{grid-template-columns:1fr 1fr}}
"""


@dataclass(frozen=True, slots=True)
class SheetCard:
    """One person: a name, the link that signs in, and its QR code as the path and side of an SVG."""

    name: str
    link: str
    path: str
    side: int

    @classmethod
    def of(cls, name: str, link: str) -> SheetCard:
        """Return the card of a person, its code drawn."""
        return cls(name, link, *qr_path(link))


def sign_in_sheet(title: str, about: str, cards: Sequence[SheetCard]) -> str:
    """Return the sheet as one HTML file: no script, nothing loaded from anywhere, every text escaped."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1><p>{escape(about)}</p>"
        f'<ol class="cards">{"".join(_card(card) for card in cards)}</ol></body></html>\n'
    )


def _card(card: SheetCard) -> str:
    name, link = escape(card.name), escape(card.link)
    return (
        f'<li><svg viewBox="0 0 {card.side} {card.side}" role="img" aria-label="QR code of {name}">'
        f'<path d="{card.path}" shape-rendering="crispEdges"/></svg>'
        f"<div><strong>{name}</strong><code>{link}</code><span>{KEEP}</span></div></li>"
    )
