"""Documents of words, figures and tables: self-contained pages and JSON.

Imported by: many rooms.
"""

from discreet.show.charts import bars, heat, lines, pairs
from discreet.show.document import (
    Document,
    DocumentBlock,
    Figure,
    Grid,
    Paragraph,
    Section,
    to_fragment,
    to_html,
    to_json,
    write,
)

__all__ = [
    "Document",
    "DocumentBlock",
    "Figure",
    "Grid",
    "Paragraph",
    "Section",
    "bars",
    "heat",
    "lines",
    "pairs",
    "to_fragment",
    "to_html",
    "to_json",
    "write",
]
