"""What a history added up to at one of its entries, so that opening need not read what came before.

Only ledger/ imports from here. (note 0071)
"""
