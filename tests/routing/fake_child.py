"""A simulation of ``routing.llama_server``: its ways of starting, and of dying, without a model.

Run as ``python fake_child.py MODE``. It answers ``GET /v1/models`` with 200, and a POST by ending
itself with status 7.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading


def serve(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        with connection:
            if connection.recv(65536).startswith(b"POST"):
                os._exit(7)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def report(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(mode: str) -> None:
    options = json.loads(sys.stdin.readline())
    assert options["api_key"] not in " ".join(sys.argv)
    if mode == "die":
        for number in range(50):
            sys.stderr.write(f"complaint {number}\n")
        sys.exit(3)
    if mode == "no library":
        sys.stderr.write("libgomp.so.1: cannot open shared object file\n")
        sys.exit(1)
    if mode == "die silently":
        sys.exit(0)
    if mode == "nonsense":
        report("Welcome!")
        sys.stdin.read()
    if mode == "never":
        sys.stdin.read()
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode == "secrets":
        sys.stderr.write(f"{sorted(k for k in os.environ if 'KEY' in k)}\n")
        sys.exit(1)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", options["port"]))
    except OSError:
        sys.exit(1)
    listener.listen()
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    port = listener.getsockname()[1]
    report(json.dumps({"url": f"http://127.0.0.1:{port}"}))
    sys.stdin.read()
    if mode == "stubborn":
        threading.Event().wait()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
