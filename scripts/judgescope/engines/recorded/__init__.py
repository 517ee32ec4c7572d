"""Replies and scores that exist already, joined to the texts that they judge."""
