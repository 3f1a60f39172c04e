"""What a release is to hold: the file that its owner writes, its cuts of numbers, its files of exact facts.

It knows nothing else of publish.

Imported by: api, attack, publish, publish/price, publish/totals, server, tasks.
"""
