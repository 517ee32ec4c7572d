"""Pure functions on arrays: no files, no tables, nothing of the other packages of this
project.
"""
