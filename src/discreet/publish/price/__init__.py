"""What a release costs and how the cost is divided among its tables: from noise laws alone.

Used by publish's own modules; no row is needed, and nothing here depends on one.
"""
