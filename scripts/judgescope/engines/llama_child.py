"""llama.cpp's server as a program: the only code that uses xllamacpp's interface.

It reads a line of JSON (path, alias, key, host, context, threads, cache), prints its
address once it is ready, and exits when its standard input closes.
"""

import json
import os
import sys
from typing import Any


def parameters(
    path: str, alias: str, key: str, host: str, context: int, threads: int, cache: bool
) -> Any:
    """Return the server's settings: one request at a time, on the CPU, without
    downloads.
    """
    from xllamacpp import CommonParams

    params = CommonParams()
    params.model.path = path
    params.model_alias = {alias}
    params.api_keys = [key]
    params.hostnames = [host]
    params.port = 0  # the system chooses a free port
    params.n_ctx = context
    params.n_parallel = 1
    params.fit_params = False
    params.cache_prompt = cache
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = 0
    params.offline = True
    params.ui = False
    params.warmup = False
    return params


def main() -> None:
    """Serve until the parent closes the pipe."""
    from xllamacpp import Server

    settings = json.loads(sys.stdin.readline())
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of native code goes into the log
    server = Server(parameters(**settings))
    print(server.listening_address, file=answer, flush=True)
    sys.stdin.read()
    os._exit(0)  # a regular shutdown can wait for requests whose replies nobody reads


if __name__ == "__main__":
    main()
