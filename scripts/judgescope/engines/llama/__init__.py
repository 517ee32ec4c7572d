"""Models behind an endpoint that speaks the OpenAI chat protocol."""
