"""A small network trained by noisy gradients over secret samples (DP-SGD), in whole numbers.

Imported by: api, learn, learn/evaluation, learn/model_files, server, tasks.
"""
