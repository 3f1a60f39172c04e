"""The style of a self-contained report: colours, charts and CSS, light and dark, and for paper."""

from __future__ import annotations

from typing import Any

LIGHT = {
    "paper": "#fbfaf7",
    "ink": "#1d1f21",
    "quiet": "#5c6166",
    "rule": "#e3e0d8",
    "accent": "#1f5f5b",
    "warning": "#9a5b00",
    "danger": "#a3262a",
}
DARK = {
    "paper": "#151718",
    "ink": "#e8e6e1",
    "quiet": "#a3a7ab",
    "rule": "#2c2f31",
    "accent": "#6fc3bc",
    "warning": "#e0a95c",
    "danger": "#f08a8d",
}

CHART: dict[str, Any] = {
    "background": None,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": LIGHT["quiet"],
        "titleColor": LIGHT["quiet"],
        "gridColor": LIGHT["rule"],
        "domainColor": LIGHT["quiet"],
        "tickColor": LIGHT["quiet"],
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 140,
        "titlePadding": 12,
    },
    "legend": {
        "labelColor": LIGHT["ink"],
        "titleColor": LIGHT["quiet"],
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "orient": "top",
        "symbolStrokeColor": LIGHT["quiet"],
    },
    "text": {"color": LIGHT["ink"], "fontSize": 11},
}
"""Colours are written in their light form; `themed` in svg.py turns them into the page's own."""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


STYLE = f"""
:root{{color-scheme:light dark;{_variables(LIGHT)}}}
@media (prefers-color-scheme: dark){{:root{{{_variables(DARK)}}}}}
*{{box-sizing:border-box}}
html{{background:var(--paper);color:var(--ink);font:16px/24px ui-sans-serif,system-ui,sans-serif}}
body{{margin:0 auto;max-width:960px;padding:24px 24px 48px}}
h1,h2{{font:400 28px/36px ui-serif,Georgia,serif;margin:0 0 12px}}
h2{{font-size:20px;line-height:28px;border-top:1px solid var(--rule);padding-top:24px;margin-top:32px}}
h3{{font:600 16px/24px ui-sans-serif,system-ui,sans-serif;margin:24px 0 4px}}
p{{margin:0 0 12px;max-width:68ch}}
.quiet,figcaption,caption{{color:var(--quiet);font-size:14px;line-height:22px}}
.mark{{color:var(--danger);border:1px solid var(--danger);border-radius:6px;padding:4px 12px;
background:var(--paper);max-width:none}}
.again{{color:var(--danger);font-size:14px;line-height:22px;margin:0}}
.note{{border-left:3px solid var(--warning);padding-left:12px}}
.note b{{color:var(--warning)}}
figure{{margin:16px 0 24px}}
figure svg{{display:block;overflow:visible}}
figure svg text{{font-family:ui-sans-serif,system-ui,sans-serif}}
figcaption,caption{{text-align:left;max-width:68ch}}
caption{{caption-side:bottom;padding-top:4px}}
.wide{{overflow-x:auto}}
table{{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:8px 0 24px}}
th,td{{text-align:left;padding:4px 16px 4px 0;border-bottom:1px solid var(--rule);vertical-align:top}}
th{{font-weight:400;color:var(--quiet);font-size:14px}}
td.number,th.number{{text-align:right}}
:focus-visible{{outline:2px solid var(--accent);outline-offset:2px}}
@media screen{{.mark{{position:sticky;top:0;z-index:1}}}}
@media print{{.mark{{position:fixed;top:0;left:0;right:0}}body{{padding-top:64px}}
figure,tr{{break-inside:avoid}}}}
""".strip()
"""In print a fixed block is repeated on every sheet: so the mark stands on each of them."""
