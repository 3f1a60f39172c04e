"""What an anonymization costs: one file for each cost, which the search makes small and every copy is measured by.

Front ends read the names in `registry`.

Imported by: anonymize, anonymize/search, api, cli, server, tasks.
"""
