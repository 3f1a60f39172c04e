"""From reconciled numbers to the contents of a package: rows, agreements, facts, rules, sentences.

Everything that passes through here may be shown to anyone.

Imported by: attack, publish, publish/totals.
"""
