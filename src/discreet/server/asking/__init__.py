"""How anything that is paid for is asked over HTTP: the id under which it may be repeated, the payer and the price.

Features import from here, and nothing here knows a feature.
"""
