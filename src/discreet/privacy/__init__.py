"""The trusted base: noise, prices, the ledger and the kernel; what must be right for the promise to hold.

Imported by: many rooms.
"""
