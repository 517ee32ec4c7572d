"""Meta-evaluation of LLM judges of generated text."""

__version__ = "0.1.0"
