"""The store of replies, and the requests to models for replies that it lacks."""
