"""The owner's own name: in which she asks, and under which the history lists her."""

from __future__ import annotations

OWNER = "owner"
"""The whole budget pays for her, unless an analyst of the catalog is called so."""
