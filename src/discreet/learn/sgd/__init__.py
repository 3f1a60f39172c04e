"""A small network trained by noisy gradients over secret samples (DP-SGD), in whole numbers.

Only learn/ itself imports from here.
"""
