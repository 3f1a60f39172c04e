"""The collector's side: reports come in, are checked one by one and are kept as columns.

`estimate` reads what lies here; nothing here can learn more than the reports say.

Imported by: cli, server, survey.
"""
