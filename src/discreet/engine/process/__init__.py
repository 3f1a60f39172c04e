"""Child processes of an engine: forked from a template, watched, killed, with folders of their own for what is spilled.

Imported by the engines and by the server's jobs.
"""
