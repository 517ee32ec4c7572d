"""Meta-evaluation of LLM judges of generated text."""

import os

__version__ = "0.1.0"

UNTOLD = {"DO_NOT_TRACK": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "VLLM_NO_USAGE_STATS": "1"}
"""By these, packages that would tell somebody that they are used are told not to.

Set here, before any of them is imported, whatever the environment says, and handed on to every
process that is started: there is no other place that all of ours pass.
"""
os.environ.update(UNTOLD)
