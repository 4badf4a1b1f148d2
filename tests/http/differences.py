"""What the backends of other libraries do otherwise than the built-in one: rows of ``docs/backends.md``.

``DIFFERENCES[library][row]`` names the test that shows what it does instead, and the tests of the suite that
do not apply. A test is left out whole, or, behind a blank, only where its parameters have these words.
"""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """One of them.

    Attributes:
        shown: The test that shows what the backend does.
        without: The tests that are not run with it.
    """

    shown: str
    without: tuple[str, ...]


DIFFERENCES: dict[str, dict[str, Difference]] = {
    "aiohttp": {
        "the first block of a body": Difference(
            "test_a_body_that_cannot_be_read_costs_no_connection",
            (
                "test_a_body_that_cannot_be_read_before_anything_was_sent",
                "test_while_a_block_is_read_from_disk",
                "test_disk_reads_are_within_the_total_on_the_async_faces",
            ),
        ),
        "a head that trickles": Difference(
            "test_a_head_that_trickles_is_silence",
            ("test_a_head_that_trickles_is_not_silent_but_ends_with_the_total",),
        ),
        "1xx answers": Difference(
            "test_interim_answers_are_bounded_by_the_deadline_alone",
            ("test_a_bad_head_ends_the_exchange data3",),
        ),
        "an answer that comes while the body is sent": Difference(
            "test_an_early_answer_is_lost_when_the_server_hangs_up",
            (
                "test_an_error_that_comes_while_the_body_is_sent_is_read Cut",
                "test_an_error_that_comes_while_the_body_is_sent_is_read Reset",
                "test_the_answer_is_read_though_the_reset_came_first",
                "test_an_answer_that_ends_with_its_connection_ends_the_sending",
            ),
        ),
        "nonsense behind an answer": Difference(
            "test_nonsense_in_the_same_segment_costs_the_answer",
            (
                "test_stray_bytes_in_the_same_segment_never_become_the_next_answer \\r\\n",
                "test_stray_bytes_in_the_same_segment_never_become_the_next_answer \\n",
                "test_stray_bytes_in_the_same_segment_never_become_the_next_answer evil",
                "test_stray_bytes_that_come_later_never_become_the_next_answer \\r\\n",
            ),
        ),
        "the words of a connection that broke": Difference(
            "test_an_end_while_it_sends_may_be_told_as_a_reset", ()
        ),
        "a head or framing that the built-in one refuses": Difference(
            "test_it_takes_what_the_builtin_one_refuses", ()
        ),
        "a head or framing that the built-in one takes": Difference(
            "test_it_refuses_what_the_builtin_one_takes", ()
        ),
        "the longest head": Difference("test_a_head_has_256_fields_of_64_kib_at_most", ()),
        "a garbled body": Difference(
            "test_a_body_that_is_garbled_in_the_first_segment_costs_the_head",
            ("test_a_broken_body_gives_its_bytes_and_then_its_error script2",),
        ),
        "a server that hangs up after its answer": Difference(
            "test_a_hang_up_after_an_answer_may_cost_the_next_request",
            (
                "test_a_server_that_closes_right_after_its_answer_is_not_sent_a_request_there",
                "test_a_server_that_closes_only_after_streamed_answers_is_not_sent_a_request_there",
                "test_a_server_that_hangs_up_late_costs_one_request_at_most",
                "test_only_answers_of_the_kind_after_which_it_hung_up_cost_their_connection",
                "test_a_server_that_hangs_up_later_or_did_long_ago_is_trusted_again",
                "test_a_connection_shows_once_that_it_stays_open",
                "test_a_call_that_is_closed_no_longer_listens_to_a_new_connection",
            ),
        ),
        "sending again": Difference(
            "test_nothing_is_sent_again",
            ("test_a_reused_connection_that_fails_unsent_is_replaced_once",),
        ),
        "a loop that ends before the backend is closed": Difference(
            "test_a_loop_that_ends_first_leaves_its_sockets_to_the_garbage_collector",
            (
                "test_a_complete_one_is_silent",
                "test_one_that_outlives_its_loop",
            ),
        ),
    },
    "httpx2": {
        "the first block of a body": Difference(
            "test_a_body_that_cannot_be_read_costs_no_connection",
            (
                "test_a_body_that_cannot_be_read_before_anything_was_sent",
                "test_while_a_block_is_read_from_disk",
                "test_disk_reads_are_within_the_total_on_the_async_faces",
            ),
        ),
        "a head that trickles": Difference(
            "test_a_head_that_trickles_is_silence",
            ("test_a_head_that_trickles_is_not_silent_but_ends_with_the_total",),
        ),
        "1xx answers": Difference(
            "test_interim_answers_are_silence",
            ("test_a_bad_head_ends_the_exchange data3",),
        ),
        "an answer that comes while the body is sent": Difference(
            "test_an_answer_is_looked_for_when_the_body_was_sent",
            (
                "test_an_error_that_comes_while_the_body_is_sent_is_read",
                "test_the_answer_is_read_though_the_reset_came_first",
                "test_a_whole_answer_ends_the_sending",
                "test_an_answer_that_ends_with_its_connection_ends_the_sending",
                "test_an_early_answer_without_end_is_taken_up_to_a_limit",
            ),
        ),
        "nonsense behind an answer": Difference(
            "test_an_answer_behind_an_answer_is_the_next_one",
            ("test_stray_bytes_in_the_same_segment_never_become_the_next_answer",),
        ),
        "a server that hangs up after its answer": Difference(
            "test_a_hang_up_after_an_answer_may_cost_the_next_request",
            (
                "test_a_server_that_closes_right_after_its_answer_is_not_sent_a_request_there",
                "test_a_server_that_closes_only_after_streamed_answers_is_not_sent_a_request_there",
                "test_a_server_that_hangs_up_late_costs_one_request_at_most",
                "test_only_answers_of_the_kind_after_which_it_hung_up_cost_their_connection",
                "test_a_server_that_hangs_up_later_or_did_long_ago_is_trusted_again",
                "test_a_connection_shows_once_that_it_stays_open",
            ),
        ),
        "the words of a connection that broke": Difference(
            "test_the_words_of_a_reset_under_tls_are_those_of_who_saw_it", ()
        ),
        "the longest head": Difference("test_a_head_and_what_follows_a_body_may_each_have_100_kib", ()),
        "ending a call that waits for its head": Difference(
            "test_ending_a_call_on_a_reused_connection_is_late_when_blocking",
            (),
        ),
        "a reset under TLS": Difference(
            "test_a_reset_under_tls_is_told_as_an_end_when_blocking",
            (),
        ),
        "sending again": Difference(
            "test_nothing_is_sent_again",
            ("test_a_reused_connection_that_fails_unsent_is_replaced_once",),
        ),
        "a read that timed out": Difference(
            "test_after_a_time_out_a_response_is_over",
            (
                "test_a_read_ends_in_time_and_may_be_repeated",
                "test_deadlines_may_move_closer_and_farther",
            ),
        ),
        "a read": Difference(
            "test_a_read_gives_one_chunk",
            ("test_a_read_that_may_not_wait_gives_what_is_there",),
        ),
        "closing before the end was read": Difference(
            "test_an_answer_closed_before_its_end_was_read_costs_its_connection",
            ("test_closing_after_the_last_bytes_reuses_the_connection",),
        ),
        "a server with several addresses": Difference(
            "test_each_address_has_the_whole_time",
            (
                "test_a_dead_address_leaves_time_for_the_next",
                "test_all_addresses_together_get_the_time_of_one",
            ),
        ),
        "a name lookup": Difference(
            "test_a_lookup_is_waited_for_under_trio",
            ("test_a_slow_name_lookup", "test_a_name_lookup"),
        ),
        "a name that stands for this machine": Difference(
            "test_localhost_leads_where_the_resolver_says",
            ("test_an_address_of_another_machine_is_not_used",),
        ),
        "a child process": Difference(
            "test_a_child_process_is_refused",
            ("test_a_child_uses_its_own_connections_and_leaves_the_parents_alone",),
        ),
        "who closes idle connections": Difference(
            "test_the_client_stays_open",
            (
                "test_a_dropped_backend_shuts_its_idle_connections",
                "test_a_complete_one_is_silent",
            ),
        ),
        "closing from another thread": Difference(
            "test_closing_is_late_where_httpx2_does_not_say_what_it_waits_on", ()
        ),
        "cookies of an answer": Difference("test_cookies_of_answers_stay_out_of_the_clients_jar", ()),
        "a response that is dropped": Difference(
            "test_a_dropped_response_shuts_its_connection",
            (
                "test_an_unfinished_response_shuts_its_connection_and_warns",
                "test_one_that_was_never_read_too",
                "test_one_that_outlives_its_loop",
                "test_one_dropped_in_another_thread",
            ),
        ),
    },
}
"""By library, then by the row of the page."""

LOOKS_INSIDE = (
    "test_a_sender_whose_request_was_just_taken",
    "test_a_call_that_is_closed_already_waits_for_nothing",
    "test_no_socket_to_be_had",
    "test_idle_connections_of_a_loop_that_is_gone_are_closed_from_any_thread",
    "test_one_loop_after_the_other",
)
"""Tests of the built-in backend's own parts."""


OVER_TLS_TOO = ("test_an_exchange", "test_closing_before_the_end_shuts_the_connection")

THE_CLIENTS = {"httpx2": ("test_pool", "test_tls")}
"""Modules about what is the client's own business."""


def applies(library: str, module: str, name: str, parameters: str) -> bool:
    """Whether a test is run with a library's backend.

    Args:
        library: Its name; empty for the built-in one.
        module: The test's module.
        name: The test's function.
        parameters: What pytest puts in brackets.
    """
    if not library:
        return True
    if name in LOOKS_INSIDE or module in THE_CLIENTS.get(library, ()):
        return False
    if library == "httpx2" and "-tls" in parameters and name not in OVER_TLS_TOO:
        return False  # TLS is the client's; what is left to show takes one test
    for difference in DIFFERENCES[library].values():
        for one in difference.without:
            test, _, words = one.partition(" ")
            if test == name and words in parameters:
                return False
    return True
