"""What epsilon means, in pictures that are worked out in the browser.

Only the frame finds it, through its `feature`.
"""
