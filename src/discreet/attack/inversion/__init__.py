"""Model inversion: a dose model, a patient's stable dose and demographics give the genotype away.

Found through the registry of attacks.

Imported by: attack.
"""
