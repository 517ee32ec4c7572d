"""From cards to the jobs of a study: who judges what, and the spec of each job."""
