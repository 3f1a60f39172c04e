"""Which sums of a release must agree: from bound SELECTs to grids of cells; public facts only.

Used by publish's own modules; it reads declared domains and public tables, never a private row.
"""
