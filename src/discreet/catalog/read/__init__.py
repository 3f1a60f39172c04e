"""discreet.toml read and checked: from text to declared datasets, or one clear sentence.

Imported by: many rooms.
"""
