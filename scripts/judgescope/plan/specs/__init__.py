"""The specs of jobs: a function for each job returns the record that the job reads.

A record has everything that changes the job's output and nothing else: no price,
address, concurrency or absolute path.
"""
