"""Published figures are recomputed and compared."""
