"""The jobs of the rules: a module each, named as the job, whose function `run` takes
the job's spec, computes and writes.

Keyword-only parameters of `run` are options on which no output depends.
"""
