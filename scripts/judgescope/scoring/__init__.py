"""From replies, or from values that are computed, to judgments and scores."""
