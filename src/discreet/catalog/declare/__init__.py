"""discreet.toml written: the text of declarations, new analysts, a bare file's first policy.

Imported by: many rooms.
"""
