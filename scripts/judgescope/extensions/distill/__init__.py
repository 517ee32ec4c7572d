"""A small judge is taught what an ensemble of annotators says."""
