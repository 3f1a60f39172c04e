"""What a release is to hold: the file that its owner writes, its cuts of numbers, its files of exact facts.

Imports nothing else of publish.
"""
