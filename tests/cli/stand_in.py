"""A stand-in for xllamacpp where the real one is not installed.

The child process imports it in the real one's place. It serves GET /health, which tells what it was told, and
does as its model's file says.
"""

from __future__ import annotations

import json
import urllib.request

STAND_IN = """
import json, os, signal, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class CommonParams:
    def __init__(self):
        self.model = type("Model", (), {})()
        self.cpuparams = type("Cpu", (), {})()
        self.cpuparams_batch = type("Cpu", (), {})()


class Server:
    def __init__(self, params):
        print("llama.cpp prints what it likes")
        what = open(params.model.path).read()
        told = {name: value for name, value in vars(params).items() if name.islower()}
        told["threads"] = (params.cpuparams.n_threads, params.cpuparams_batch.n_threads)
        told["pid"] = os.getpid()
        if what == "broken":
            os.write(2, b"0.00.1 I loading\\n0.00.2 E gguf_init: the file is no model\\n")
            os.write(2, b"0.00.3 E srv: exiting\\n")
            raise RuntimeError("Failed to init server")
        if what == "crash":
            os.write(2, b"loading\\nKilled by somebody\\n\\n")
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "slow":
            hold_the_gil()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                body = json.dumps(told, default=repr).encode()
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer((params.hostnames[0], params.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"


def hold_the_gil():
    # A C function called through PyDLL keeps the GIL, as loading a model does.
    import ctypes

    ctypes.PyDLL(None).sleep(60)
"""


def told_by(url: str) -> dict:
    """What the stand-in that serves there was told."""
    with urllib.request.urlopen(f"{url}/health") as response:
        return json.load(response)
