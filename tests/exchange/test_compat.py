"""What was learned about servers: visible, said once, forgotten on request."""

from __future__ import annotations

import logging
import threading

import svir
from svir.http import Origin

HERE = Origin("http", "127.0.0.1", 1234)
THERE = Origin("https", "example.com", 443)


def learned(**given):
    memory = svir.Compatibility(wall_clock=lambda: 7.5)
    memory.learn(HERE, "m", ("stream_options",), **{"status": 400, "message": "their words", **given})
    return memory


def test_nothing_is_left_out_until_it_is_learned():
    memory = learned()
    assert memory.omitted(HERE, "m") == {"stream_options"}
    assert memory.omitted(HERE, "n") == frozenset()
    assert memory.omitted(THERE, "m") == frozenset()
    assert memory.omitted(Origin("http", "127.0.0.1", 1235), "m") == frozenset()


def test_it_says_what_was_learned_from_what_and_when():
    memory = learned()
    memory.learn(THERE, "n", ("reasoning_effort",), status=422, message=None)
    first, second = memory.learned
    assert first == svir.Learned(
        server="http://127.0.0.1:1234",
        model="m",
        fields=("stream_options",),
        status=400,
        server_message="their words",
        when=7.5,
    )
    assert (second.server, second.status, second.server_message) == ("https://example.com", 422, None)
    memory.reset()
    assert memory.learned == ()
    assert memory.omitted(HERE, "m") == frozenset()


def test_the_servers_words_are_withheld_when_it_is_shown():
    memory = learned()
    (one,) = memory.learned
    assert "their words" not in repr(one) + repr(memory) + repr(list(one.__rich_repr__()))
    assert "<11 bytes withheld>" in repr(one)
    assert repr(memory) == "Compatibility(<1 learned>)"
    assert dict(one.__rich_repr__())["fields"] == ("stream_options",)


def test_fields_add_up_and_the_last_rejection_is_the_one_told():
    memory = learned()
    memory.learn(HERE, "m", ("reasoning_effort", "stream_options"), status=422, message="more")
    (one,) = memory.learned
    assert (one.fields, one.status, one.server_message) == (
        ("stream_options", "reasoning_effort"),
        422,
        "more",
    )


def test_the_log_warns_once_and_repeats_nothing_of_the_server(caplog):
    with caplog.at_level(logging.WARNING, logger="svir"):
        memory = learned()
        memory.learn(HERE, "m", ("stream_options",), status=400, message="their words")
    (record,) = caplog.records
    assert record.name == "svir"
    assert record.levelno == logging.WARNING
    assert "stream_options" in record.getMessage()
    assert "HTTP 400" in record.getMessage()
    assert not any(word in record.getMessage() for word in ("their", "127.0.0.1", "1234"))


def test_threads_that_learn_at_the_same_time_lose_nothing():
    memory = svir.Compatibility()
    start = threading.Barrier(8)

    def learn(number):
        start.wait()
        for index in range(50):
            memory.learn(HERE, f"{number}-{index}", ("a",), status=400, message=None)
            memory.learn(HERE, "shared", (f"f{number}-{index}",), status=400, message=None)

    threads = [threading.Thread(target=learn, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.learned) == 8 * 50 + 1
    assert len(memory.omitted(HERE, "shared")) == 8 * 50
