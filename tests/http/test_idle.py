from __future__ import annotations

from svir.http import Origin
from svir.http._idle import IdleList

HERE = Origin("http", "a", 80)
THERE = Origin("http", "b", 80)


def yes(connection):
    return True


def test_the_one_used_last_is_taken_first():
    idle = IdleList()
    for name in "abc":
        assert idle.put(HERE, name, 0.0) == []
    assert [idle.take(HERE, 0.0, yes) for _ in range(4)] == [("c", []), ("b", []), ("a", []), (None, [])]


def test_connections_to_other_servers_are_left_alone():
    idle = IdleList()
    idle.put(HERE, "a", 0.0)
    assert idle.take(THERE, 0.0, yes) == (None, [])
    assert idle.take(Origin("https", "a", 80), 0.0, yes) == (None, [])
    assert idle.take(Origin("http", "a", 81), 0.0, yes) == (None, [])
    assert idle.take(HERE, 0.0, yes) == ("a", [])


def test_unusable_ones_are_handed_back_to_be_closed():
    idle = IdleList()
    for name in "abc":
        idle.put(HERE, name, 0.0)
    assert idle.take(HERE, 0.0, lambda connection: connection == "a") == ("a", ["c", "b"])
    assert len(idle) == 0


def test_the_one_idle_longest_gives_way():
    idle = IdleList(most=2)
    assert idle.put(HERE, "a", 0.0) == []
    assert idle.put(THERE, "b", 1.0) == []
    assert idle.put(HERE, "c", 2.0) == ["a"]
    assert idle.evict() == "b"
    assert idle.evict() == "c"
    assert idle.evict() is None


def test_one_idle_too_long_is_closed_and_not_used():
    idle = IdleList(seconds=10)
    idle.put(HERE, "a", 0.0)
    idle.put(HERE, "b", 5.0)
    assert idle.take(THERE, 10.0, yes) == (None, [])
    assert idle.take(HERE, 10.5, lambda connection: False) == (None, ["a", "b"])


def test_clearing_hands_back_all():
    idle = IdleList()
    idle.put(HERE, "a", 0.0)
    idle.put(THERE, "b", 0.0)
    assert idle.clear() == ["a", "b"]
    assert len(idle) == 0


def test_a_check_may_use_the_list_itself():
    idle = IdleList()
    idle.put(HERE, "a", 0.0)
    idle.put(HERE, "b", 0.0)
    assert idle.take(HERE, 0.0, lambda connection: idle.clear() == ["a"]) == ("b", [])


def test_abandoning_does_not_wait_for_a_lock_that_is_held():
    idle = IdleList()
    idle.put(HERE, "a", 0.0)
    idle._lock.acquire()
    assert idle.abandon() == ["a"]


def test_a_signal_handler_may_clear_the_list_while_it_is_held():
    idle = IdleList()
    idle.put(HERE, "a", 0.0)
    with idle._lock:
        assert idle.clear() == ["a"]
