"""Arithmetic of deadlines: tighter wins, and a hair too early is on time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svir import ConfigError
from svir.exchange import Deadlines
from svir.exchange._deadlines import LONGEST_SECONDS, SLACK, check_seconds

moments = st.one_of(st.none(), st.floats(0, 1000))


@given(st.lists(moments), st.lists(moments), st.lists(moments), st.floats(0, 1000), st.booleans())
def test_the_tightest_of_all_that_were_set_holds_in_any_order(idles, firsts, totals, now, started):
    limits = Deadlines()
    for idle in idles:
        limits = limits if idle is None else limits.with_idle(idle)
    for when in firsts:
        limits = limits if when is None else limits.with_first(when, when)
    for when in totals:
        limits = limits if when is None else limits.with_total(when, when)
    assert limits.idle == min((idle for idle in idles if idle is not None), default=None)
    due = [when for when in (*totals, *(() if started else firsts)) if when is not None]
    nearest = min(due, default=None)
    assert limits.left(now, started=started) == (None if nearest is None else nearest - now)
    passed = limits.passed(now, started=started)
    assert (passed is not None) is (nearest is not None and nearest - now <= SLACK)
    assert passed is None or passed.when == nearest


def test_the_error_says_which_deadline_and_how_long_it_was():
    limits = Deadlines().with_first(2.0, 2.0).with_total(60.0, 60.0)
    error = limits.passed(2.0, started=False).error(unsent=True)
    assert str(error) == "the request timed out: nothing of the answer came within 2 s"
    assert error.unsent
    assert error.retryable
    assert limits.passed(2.0, started=True) is None
    assert "not complete within 60 s" in str(limits.passed(60.0, started=True).error())


def test_limits_are_values_that_do_not_change():
    limits = Deadlines(idle=5)
    assert limits.with_idle(3).with_total(1, 1) != limits
    assert limits == Deadlines(idle=5)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), LONGEST_SECONDS + 1, 10**400])
def test_a_length_of_time_that_nobody_can_wait_is_a_config_error(bad):
    with pytest.raises(ConfigError, match="idle_timeout"):
        check_seconds(bad, "idle_timeout")


@pytest.mark.parametrize("bad", ["5", True, None, [5]])
def test_a_length_of_time_is_a_number(bad):
    with pytest.raises(TypeError):
        check_seconds(bad, "idle_timeout")


def test_a_deadline_names_the_switch_that_set_it():
    limits = Deadlines().with_first(2.0, 2.0, "first_token").with_total(9.0, 9.0, "total")
    assert str(limits.passed(3.0, started=False).error()).endswith("came within 2 s (first_token)")
    assert str(limits.passed(9.0, started=True).error()).endswith("complete within 9 s (total)")


def test_limits_within_others_are_the_tighter_of_both_and_keep_their_own_headers():
    outer = Deadlines(idle=5).with_total(10, 10).with_headers({"x-outer": "1"})
    own = Deadlines(idle=7).with_total(20, 20).with_first(3, 3).with_headers({"x-own": "1"})
    both = own.within(outer)
    assert (both.idle, both.first, both.total) == (5, own.first, outer.total)
    assert list(both.headers) == [("x-own", "1")]
    assert own.within(Deadlines()) == own.within(None) == own
