"""From reconciled numbers to the contents of a package: rows, agreements, facts, rules, sentences.

Used by publish's own modules; everything that passes through here may be shown to anyone.
"""
