"""Measures computed from text: overlap with references or source, and a rule judge."""
