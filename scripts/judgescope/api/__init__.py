"""What a notebook uses: results of a study as DataFrames, and the statistics on
arrays.
"""
