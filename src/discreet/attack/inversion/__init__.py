"""Model inversion: a dose model, a patient's stable dose and demographics give the genotype away.

Reached through the registry of attacks.
"""
