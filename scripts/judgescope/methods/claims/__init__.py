"""The claims about a judge: a module per kind, each with `claims(study) ->
Iterator[Claim]`.
"""
