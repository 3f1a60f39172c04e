"""discreet.toml written: the text of declarations, new analysts, a bare file's first policy.

Commands, api and server import from here.
"""
