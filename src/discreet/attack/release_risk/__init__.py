"""How much a release adds about its people: singling out, linkability, inference, beside strangers.

Reached through the registry of attacks.
"""
