"""Record linkage: records without names joined to a list with names.

Found through the registry of attacks.

Imported by: attack, attack/classes.
"""
