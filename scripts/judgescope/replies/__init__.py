"""The store of replies, and what is asked of a model when one is missing."""
