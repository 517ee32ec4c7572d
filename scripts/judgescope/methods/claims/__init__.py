"""The claims about a judge, by what they are about: scores, labels, ratings, spans …

A function that `Method.claims` names takes the data of one dataset and yields `Claim`s.
"""
