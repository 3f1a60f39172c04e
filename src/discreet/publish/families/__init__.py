"""Which sums of a release must agree: from bound SELECTs to grids of cells; public facts only.

It reads declared domains and public tables, never a private row.

Imported by: attack, publish, publish/assemble, publish/price, publish/reconcile.
"""
