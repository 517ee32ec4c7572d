"""A user's table as it came, read: file, cells, labels, and the roles of its columns.

`opening` finds out how a file is written, `spelling` reads numbers as people write
them, `leaving_out` finds cells and rows that are no data, `labels` orders words, and
`words` knows what headers mean in 14 languages. What is assumed is said in notes.
"""
