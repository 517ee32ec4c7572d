"""What every package may import: errors, paths, canonical JSON, cells, random streams,
files.
"""
