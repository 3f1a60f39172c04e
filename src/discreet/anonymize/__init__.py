"""Anonymization: k-anonymity and its kin. No guarantee; every output says so.

`discreet.anonymize(FILE, k=5, quasi=[...])` makes a copy.

Imported by: cli, curator, lab, server, tasks.
"""

from discreet.base.packages import make_callable

make_callable(__name__)
