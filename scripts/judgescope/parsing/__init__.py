"""From raw replies to judgments: one named, versioned parser per kind of reply."""
