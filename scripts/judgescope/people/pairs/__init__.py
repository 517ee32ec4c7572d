"""People's votes on pairs of texts: is the damaged text worse, and in what (paper 001, C.3)?"""
