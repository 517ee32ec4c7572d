"""The store of replies, and what is asked of a model when one is missing."""

from metajudge.replies.asking import obtain
from metajudge.replies.store import Store

__all__ = ["Store", "obtain"]
