"""The drawing of how an answer came."""

from __future__ import annotations

import re

import pytest

from svir.cli.probe._plot import MOST_STEPS, arrivals, axes, ticks
from svir.cli.probe._report import Speed


def test_each_piece_is_a_step():
    figure = arrivals(Speed(arrivals=(0.5, 1.0, 2.0)))
    assert 'd="M0 1000H250.0V666.7H500.0V333.3H1000.0V0.0"' in figure


def test_the_order_of_the_times_does_not_matter_and_what_is_no_time_is_left_out():
    odd = Speed(arrivals=(2.0, float("nan"), 0.5, float("inf"), -3.0, 1.0))
    assert arrivals(odd) == arrivals(Speed(arrivals=(0.5, 1.0, 2.0)))


def test_the_first_token_is_marked_and_the_numbers_are_told_without_the_drawing():
    figure = arrivals(Speed(first_token=0.5, tokens_per_second=38.46, arrivals=(0.5, 1.0, 2.0)))
    assert '<line x1="25.00%" x2="25.00%" y1="0" y2="168" class="first"/>' in figure
    assert (
        'aria-label="Pieces of the answer over time: first token 0.5 s; speed 38.5 tokens/s; '
        'pieces 3 over 1.5 s; longest pause 1 s."' in figure
    )


def test_the_note_at_a_late_first_token_stands_before_it():
    early, late = (arrivals(Speed(first_token=at, arrivals=(at, 2.0))) for at in (0.1, 1.9))
    assert 'class="note"' in early
    assert 'class="note at-end"' in late


def test_both_axes_have_a_title():
    figure = arrivals(Speed(arrivals=(1.0,)))
    assert ">pieces of the answer<" in figure
    assert ">seconds since the request<" in figure


def test_many_pieces_are_thinned_out_and_the_last_one_is_kept():
    figure = arrivals(Speed(arrivals=tuple(n / 1000 for n in range(100_001))))
    steps = re.findall(r"H([\d.]+)V([\d.]+)", figure)
    assert MOST_STEPS / 2 < len(steps) <= MOST_STEPS
    assert steps[-1] == ("1000.0", "0.0")


def test_nothing_timed_is_no_figure_and_no_pieces_are_no_drawing():
    assert arrivals(Speed()) == ""
    assert "<svg" not in arrivals(Speed(first_token=1.0))


def test_two_answers_can_be_drawn_on_the_same_axes():
    short, long = Speed(arrivals=(1.0, 2.0)), Speed(first_token=4.0, arrivals=(4.0,))
    assert axes(short, long) == (4.0, 2)
    assert 'd="M0 1000H250.0V500.0H500.0V0.0"' in arrivals(short, axes(short, long))


@pytest.mark.parametrize("top", [0.001, 0.02, 0.3, 0.999, 1, 1.7, 2, 5, 9.99, 10, 74, 123456.0, 1e308])
def test_ticks_are_few_and_reach_close_to_the_end(top):
    found = ticks(top, 5)
    assert 2 < len(found) <= 6
    assert found[0] == 0
    assert 0.5 * top < found[-1] <= top * (1 + 1e-9)
    assert {f"{tick:e}"[0] for tick in found[1:2]} <= {"1", "2", "5"}
