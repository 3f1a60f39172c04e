"""What the Anonymize pages show: copies in the words of the page."""

from __future__ import annotations

import time
from typing import Any

from discreet.anonymize.text import percent
from discreet.server.features.anonymize.releases import StoredRelease

_DOWNLOADS = (
    ("rows.csv", "CSV"),
    ("rows.parquet", "Parquet"),
    ("report.html", "report"),
    ("report.json", "report as JSON"),
)


def release_view(release: StoredRelease) -> dict[str, Any]:
    """Return one copy as the pages show it."""
    facts = release.facts
    return {
        "id": release.id,
        "path": f"/anonymize/{release.id}",
        "table": release.table,
        "dataset": release.dataset,
        "k": facts["k"],
        "rows": f"{facts['rows'] - facts['suppressed']:,}",
        "left_out": f"{facts['suppressed']:,}",
        "classes": f"{facts['classes']:,}",
        "risk": percent(facts["risk"]["prosecutor"]["average"]),
        "worst": percent(facts["risk"]["prosecutor"]["highest"]),
        "when": time.strftime("%Y-%m-%d %H:%M", time.gmtime(release.created)),
        "downloads": [
            {"name": words, "path": f"/api/v1/anonymize/{release.id}/{file}"}
            for file, words in _DOWNLOADS
        ],
    }
