"""Turns replies or computed values into judgments and scores."""
