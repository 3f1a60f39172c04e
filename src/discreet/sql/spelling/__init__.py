"""Other ways to write what is known already: put into the one spelling that the binder reads.

Imported by the parser and by requests. Nothing in here decides what is protected.
"""
