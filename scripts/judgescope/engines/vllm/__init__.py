"""Models that a job loads with vLLM, in its own process or behind a server of its own."""
