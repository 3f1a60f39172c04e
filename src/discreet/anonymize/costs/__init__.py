"""Information-loss metrics (costs), one file each: the search makes one small, every copy is measured by them.

Front ends read the names in `registry`.

Imported by: anonymize, api, cli, server, tasks.
"""
