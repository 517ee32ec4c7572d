"""The exports of platforms and tools for evaluation: a module for each, with its
reader.

`base` has the record that a module registers and what a reader gets and returns,
`reading` finds keys and texts, `sides` says which columns are people's and which a
judge's, `score_sheet` gathers rows of single scores. Content is data: none of it is
executed.
"""
