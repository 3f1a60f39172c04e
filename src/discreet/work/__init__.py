"""Works that are paid for once: copies, models and packages.

Imported by: cli, curator, discreet, lab, server, tasks.
"""
