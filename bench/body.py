"""Bodies: memory and speed while a large image is sent, and while bodies are encoded and read.

    PYTHONPATH=src python bench/body.py [--mib 1024] [--text-mb 100]

Prints the growth of the process's peak memory (design 10: under 16 MiB at any size) and the throughput: of a
client of either face that sends over loopback, the server being in another process, and of reading a body
whose bytes are thrown away. Temporary files are made where TMPDIR says, and removed.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import socket
import tempfile
import threading
import time
from pathlib import Path

import svir
from svir import Image, Request, TextFile, user
from svir.body import escaped_len
from svir.openai.chat import Encoder

TEXTS = {
    "prose": "The river bends where its banks are soft, and the bend grows.\n",
    "source code": '    if name == "outer":\n        return [bend(r) for r in rivers]  # "soft"\n\n',
    "JSON lines": '{"level":"info","at":1737,"what":"bend","river":"Glomma"}\n',
    "Cyrillic": "\u0420\u0435\u043a\u0438 \u0442\u0435\u043a\u0443\u0442 \u043c\u044f\u0433\u043a\u043e.\n",
    "CJK": "\u6cb3\u5ddd\u871c\u8712\u662f\u56e0\u4e3a\u4e24\u5cb8\u677e\u8f6f\u3002\n",
    "quotes only": '"',
}


def peak_kib() -> int:
    """The peak resident size, which Linux lets a process set back."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def run(part, results) -> None:
    """In a process of its own, so that one measurement's memory does not hide another's."""
    encoder = Encoder()
    consume(encoder.encode(Request("m", messages="warm")))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, started, cpu = peak_kib(), time.perf_counter(), time.process_time()
    body = encoder.encode(Request("m", messages=[user("What is this?", part)]))
    built = time.perf_counter()
    total = consume(body)
    ended = time.perf_counter()
    results.put((peak_kib() - before, built - started, ended - built, time.process_time() - cpu, total))


def send(face, url, part, results) -> None:
    """Sends a small request and then the large one; in a process of its own."""

    async def asynchronous(*turns) -> None:
        async with svir.AsyncClient.openai(url, model="m") as client:
            for turn in turns:
                begin()
                await client.complete(turn)

    def begin() -> None:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        measured[:] = [peak_kib(), time.perf_counter(), time.process_time()]

    measured: list[float] = []
    turns = (user("warm"), user("What is this?", part))
    if face == "async":
        asyncio.run(asynchronous(*turns))
    else:
        with svir.Client.openai(url, model="m") as client:
            for turn in turns:
                begin()
                client.complete(turn)
    before, started, cpu = measured
    results.put((peak_kib() - before, 0.0, time.perf_counter() - started, time.process_time() - cpu, 0))


def serve(listener) -> None:
    """Takes whatever is sent, and answers each request in a few words."""
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"A river."},"finish_reason":"stop"}]}\n\n'
    answer = chunk + b"data: [DONE]\n\n"
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(answer)
    buffer = bytearray(1024 * 1024)
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # it was closed: the measuring is over
            return
        with connection, connection.makefile("rb") as file:
            while file.readline():
                left = 0
                while (line := file.readline().lower()) not in {b"\r\n", b""}:
                    if line.startswith(b"content-length:"):
                        left = int(line.split(b":")[1])
                while left:
                    left -= file.readinto(memoryview(buffer)[: min(left, len(buffer))])
                connection.sendall(head + answer)


def show(name: str, part, size: int, *, target=run, given=()) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    process = context.Process(target=target, args=(*given, part, results))
    process.start()
    process.join()
    extra, build, read, cpu, total = results.get()
    total = total or size
    print(
        f"{name:<26} {size / 1e6:>7.0f} MB -> {total / 1e6:>7.0f} MB   extra {extra / 1024:>5.1f} MiB   "
        f"built in {build * 1e3:>7.1f} ms   read at {size / read / 1e6:>6.0f} MB/s   "
        f"CPU {cpu * 1e9 / size:>5.2f} ns/byte"
    )


def consume(body) -> int:
    return sum(map(len, body))


def best(function, argument, times: int = 5) -> float:
    took = []
    for _ in range(times):
        started = time.perf_counter()
        function(argument)
        took.append(time.perf_counter() - started)
    return min(took)


def escaping(size: int = 20_000_000) -> None:
    print(f"\nescaping on one core, MB/s of text ({size / 1e6:.0f} MB, best of 5)")
    for name, line in TEXTS.items():
        data = (line * (size // len(line.encode()) + 1)).encode()
        with tempfile.NamedTemporaryFile(suffix=".txt") as file:
            file.write(data)
            file.flush()
            request = Request("m", messages=[user(TextFile(file.name))])
            body = Encoder().encode(request)
            took = (best(Encoder().encode, request), best(consume, body), best(escaped_len, data))
        rates = [f"{len(data) / seconds / 1e6:>6.0f}" for seconds in took]
        print(f"  {name:<12} measured {rates[0]}   read {rates[1]}   escaped_len {rates[2]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=1024, help="size of the image in MiB")
    parser.add_argument("--text-mb", type=int, default=100, help="size of the text file in MB")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        image, text = Path(folder, "large.png"), Path(folder, "large.txt")
        block = os.urandom(1024 * 1024)
        with image.open("wb") as file:
            for _ in range(args.mib):
                file.write(block)
        line = TEXTS["source code"].encode()
        text.write_bytes(line * (args.text_mb * 1_000_000 // len(line)))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=serve, args=(listener,), daemon=True).start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            for face in ("sync", "async"):
                given = (face, url)
                show(f"image sent, {face}", Image(image), image.stat().st_size, target=send, given=given)
        show("image read", Image(image), image.stat().st_size)
        image.unlink()
        show("text file, measured", TextFile(text), text.stat().st_size)
        known = escaped_len(text.read_bytes())
        show("text file, declared", TextFile(text, escaped_len=known), text.stat().st_size)
        text.write_bytes(b"\x01" * (args.text_mb * 100_000))
        show("control characters only", TextFile(text), text.stat().st_size)
    escaping()


if __name__ == "__main__":
    main()
