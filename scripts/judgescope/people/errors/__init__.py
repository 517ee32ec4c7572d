"""People judge the errors that judges annotate: the passage, and the explanation (paper 004)."""
