//! The list of all behaviours, and the macros that generate tests from it.

/// Generates a test for each behaviour of a suite: `conformance!(pages, Fresh::new(Arc::new(MemoryPages::default())))`.
///
/// The second argument is an expression for a [`Fresh`](crate::conformance::Fresh) subject; it may use `await`. The
/// suite `queue_exact` is only for queues that guarantee an order and take the time from their caller.
#[macro_export]
macro_rules! conformance {
    (hosts, $make:expr) => {
        $crate::behaviours!(hosts, $crate::conformance::hosts::HostPorts, $make;
            an_unknown_host_has_the_default_state a_swapped_state_is_read_back a_stale_swap_conflicts_and_writes_nothing
            no_version_comes_twice each_version_is_won_once racing_increments_are_all_counted
            hosts_do_not_disturb_each_other hosts_are_listed_page_by_page
        );
    };
    (robots, $make:expr) => {
        $crate::behaviours!(robots, ::std::sync::Arc<dyn $crate::ports::RobotsStore>, $make;
            an_unknown_origin_has_no_copy a_copy_is_read_back_byte_for_byte a_copy_at_the_bounds_is_read_back
            the_last_copy_wins origins_do_not_disturb_each_other
        );
    };
    (cpu, $make:expr) => {
        $crate::behaviours!(cpu, ::std::sync::Arc<dyn $crate::ports::CpuPool>, $make;
            a_result_comes_back a_panic_continues_in_the_caller all_tasks_have_their_turn
        );
    };
    (marks, $make:expr) => {
        $crate::behaviours!(marks, ::std::sync::Arc<dyn $crate::ports::Marks>, $make;
            an_unknown_mark_is_absent a_swapped_mark_is_read_back a_stale_swap_conflicts_and_writes_nothing
            one_of_many_swaps_wins marks_do_not_disturb_each_other
        );
    };
    (pages, $make:expr) => {
        $crate::behaviours!(pages, ::std::sync::Arc<dyn $crate::ports::Pages>, $make;
            an_unknown_page_is_absent every_state_is_read_back a_page_is_inserted_once one_of_many_inserts_wins
            a_swap_replaces_the_row a_stale_swap_conflicts_and_writes_nothing a_swap_of_nothing_conflicts
            one_of_many_swaps_wins pages_are_listed_page_by_page o13_text_that_would_be_a_query_is_kept_as_it_is
        );
    };
    (sources, $make:expr) => {
        $crate::behaviours!(sources, ::std::sync::Arc<dyn $crate::ports::Sources>, $make;
            an_unknown_source_is_absent feeds_and_sites_are_read_back a_source_is_inserted_once a_swap_replaces_the_row
            a_stale_swap_conflicts_and_writes_nothing a_swap_of_nothing_conflicts one_of_many_swaps_wins
            sources_that_are_read_together_are_as_they_are_alone a_slot_gives_its_own_sources_page_by_page
            a_swapped_source_stays_in_its_slot sources_are_listed_page_by_page
        );
    };
    (queue, $make:expr) => {
        $crate::behaviours!(queue, $crate::conformance::queue::QueuePorts, $make;
            an_empty_queue_gives_nothing a_job_comes_when_it_is_due_and_not_before no_more_come_than_asked_for
            every_stage_has_its_own_queue a_job_comes_again_when_its_visibility_ends
            an_acknowledged_job_never_comes_again receipts_that_have_run_out_are_harmless
            a_late_receipt_leaves_the_next_delivery_alone a_job_put_back_comes_at_its_new_time
            a_job_put_back_for_a_day_waits a_dead_lettered_job_is_kept_with_its_reason the_dead_are_listed_newest_first
            a_redriven_job_comes_again a_receipt_from_before_a_redrive_is_harmless redriving_nothing_is_not_found
            a_discarded_job_is_gone jobs_that_wait_for_hours_are_listed_earliest_first
            counts_tell_ready_waiting_in_flight_and_dead_apart an_unreadable_message_is_delivered_as_such
            a_message_of_a_megabyte_comes_back_whole a_batch_is_shared_out_without_loss
        );
    };
    (queue_exact, $make:expr) => {
        $crate::behaviours!(queue_exact, $crate::conformance::queue::QueuePorts, $make;
            the_oldest_come_first next_due_is_the_earliest_that_is_not_handed_out waiting_jobs_are_listed_earliest_first
            what_has_run_out_is_counted_as_ready each_job_is_handed_out_once
        );
    };
    (blobs, $make:expr) => {
        $crate::behaviours!(blobs, ::std::sync::Arc<dyn $crate::ports::Blobs>, $make;
            an_unknown_object_is_absent an_object_is_read_back an_empty_object_is_an_object
            an_object_of_twenty_megabytes_is_read_back the_last_put_wins an_old_content_stays_readable a_range_is_read
            a_range_beyond_the_end_is_refused put_if_absent_keeps_what_is_there one_of_many_puts_if_absent_wins
            a_swap_follows_the_tags what_was_seen_is_not_read_again a_swap_that_wants_nothing_there_is_made_once
            one_of_many_swaps_wins racing_swaps_lose_none a_swap_sees_puts_and_deletes a_delete_is_final_and_repeatable
            keys_are_listed_in_byte_order_page_by_page a_prefix_may_end_anywhere keys_that_are_none_are_refused
            long_keys_are_keys a_reader_never_sees_half_an_object
        );
    };
    (range_cache, $make:expr) => {
        $crate::behaviours!(range_cache, ::std::sync::Arc<dyn $crate::ports::RangeCache>, $make;
            an_unknown_piece_is_not_there pieces_are_given_back a_piece_is_given_as_it_was_put a_piece_is_replaced
            objects_do_not_disturb_each_other only_what_is_named_is_kept
        );
    };
}

/// Generates the tests of one suite; called by [`conformance!`](crate::conformance!).
#[doc(hidden)]
#[macro_export]
macro_rules! behaviours {
    ($suite:ident, $subject:ty, $make:expr; $($behaviour:ident)+) => {
        mod $suite {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $behaviour() {
                    let fresh: $crate::conformance::Fresh<$subject> = $make;
                    $crate::conformance::$suite::$behaviour(&fresh.subject).await;
                }
            )+
        }
    };
}

#[cfg(test)]
mod tests {
    /// A behaviour that is not listed would never run.
    #[test]
    fn every_behaviour_is_listed() {
        let suites = [
            ("hosts", include_str!("hosts.rs")),
            ("robots", include_str!("robots.rs")),
            ("marks", include_str!("marks.rs")),
            ("pages", include_str!("pages.rs")),
            ("sources", include_str!("sources.rs")),
            ("queue", include_str!("queue.rs")),
            ("queue_exact", include_str!("queue_exact.rs")),
            ("blobs", include_str!("blobs.rs")),
            ("range_cache", include_str!("range_cache.rs")),
            ("cpu", include_str!("cpu.rs")),
        ];
        let here = include_str!("macros.rs");
        for (suite, source) in suites {
            let begin = here.find(&format!("({suite}, $make:expr)"));
            let list = begin.and_then(|at| here[at..].split(");").next()).unwrap_or_default();
            let listed: Vec<&str> = list.split_whitespace().collect();
            let written: Vec<&str> =
                source.split("\npub async fn ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
            assert!(!written.is_empty(), "{suite} has no behaviours");
            for behaviour in written {
                assert!(listed.contains(&behaviour), "{suite}::{behaviour} is not in the list");
            }
        }
    }
}
