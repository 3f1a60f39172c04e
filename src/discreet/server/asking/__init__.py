"""How anything that is paid for is asked over HTTP: the id under which it may be repeated, the payer and the price.

Nothing here knows a feature.

Imported by: server/features.
"""
