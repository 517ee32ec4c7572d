"""Requests that an endpoint answers within a day, at a lower price."""
