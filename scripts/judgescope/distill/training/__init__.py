"""A judge is trained: an adapter over a base model's weights learns its teacher's replies.

What needs torch is imported where it is used: the other environments do not have it.
"""
