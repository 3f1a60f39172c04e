"""Other dialects' ways to write a statement: synonyms of functions, and a price inside the text.

Nothing in here decides what is protected.

Imported by: api, course, release, sql.
"""
