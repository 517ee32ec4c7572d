"""A judge is trained: an adapter over a base model's weights learns its teacher's
replies.

torch is imported only in functions that use it: other environments do not have it.
"""
