"""The child process of ``routing.embedded``: llama.cpp's own server, on the loopback interface.

    python -m routing.llama_server

It reads its options from the first line of its standard input (so the key is in no list of
processes), writes ``{"url": ...}`` to its standard output when it listens, and ends when its
standard input ends: a parent that dies, however it dies, leaves no orphan behind.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from routing.llama_options import LlamaOptions

ALIAS = "embedded"
_ERRORS_ONLY = 1


def common_params(xllamacpp: Any, options: LlamaOptions) -> Any:
    """llama.cpp's ``CommonParams`` for these options."""
    params = xllamacpp.CommonParams()
    params.model.path = str(options.model)
    params.model_alias = {ALIAS}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.api_keys = [options.api_key]
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = _ERRORS_ONLY

    params.n_parallel = options.slots
    params.n_ctx = options.context * options.slots
    params.fit_params = False  # the sizes are ours
    params.n_ubatch = options.ubatch
    params.cache_prompt = True
    params.cache_ram_mib = options.cache_ram_mib
    if options.prompts is not None:
        params.slot_save_path = f"{options.prompts}{os.sep}"
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    # Weights are repacked for the processor while they load: mapped, both copies stay in memory.
    params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    return params


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # llama.cpp may write there
    options = LlamaOptions.from_line(sys.stdin.readline())
    if options.spin is not None:
        os.environ["GOMP_SPINCOUNT"] = str(options.spin)  # read once, when OpenMP is loaded
    try:
        import xllamacpp

        server = xllamacpp.Server(common_params(xllamacpp, options))
    except (RuntimeError, ImportError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    report.write(json.dumps({"url": server.listening_address}) + "\n")
    report.flush()
    sys.stdin.read()
    os._exit(0)  # at once, whatever its threads are doing


if __name__ == "__main__":
    main()
