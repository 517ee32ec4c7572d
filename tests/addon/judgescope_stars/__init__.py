"""Reviews with stars: a format, an engine, a parser, a perturbation and a method."""
