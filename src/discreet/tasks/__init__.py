"""The commands as functions: what `discreet NAME` does, without a terminal.

A curator's own methods are in `api`.

Imported by: cli, discreet.
"""
