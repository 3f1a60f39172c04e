"""What a release costs and how the cost is divided among its tables: from noise laws alone.

No row is needed, and nothing here depends on one.

Imported by: publish, publish/assemble.
"""
