"""What a history added up to at one of its entries, so that opening need not read what came before (note 0071).

Imported by: ledger.
"""
