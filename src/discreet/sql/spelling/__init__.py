"""Other dialects' ways to write a statement: synonyms of functions, and a price inside the text.

Imported by the parser and by requests. Nothing in here decides what is protected.
"""
