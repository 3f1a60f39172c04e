"""discreet.toml: datasets, tables, columns, units and budgets as the owner declared them.

Imported by: many rooms.
"""

from discreet.data.catalog.catalog import Budget, Catalog, DeclaredCap, engine_name
from discreet.data.catalog.policy_file import load, loads

__all__ = ["Budget", "Catalog", "DeclaredCap", "engine_name", "load", "loads"]
