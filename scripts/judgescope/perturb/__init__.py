"""Perturbations: texts perturbed by rule or by a model, and the checks of such
texts.
"""
