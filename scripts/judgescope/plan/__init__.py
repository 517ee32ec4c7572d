"""From cards to the jobs of a study: which judge rates what, and the spec of each
job.
"""
