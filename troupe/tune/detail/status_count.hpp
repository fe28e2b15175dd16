#pragma once

#include <troupe/tune/records.hpp>

namespace troupe::tune::detail {

/// Adds what an event changed to the counters and times of the status. State, message, starts, CPUs
/// and planned trials are not touched: the row that is written with those events has them.
void count_event(const EventRecord& event, ExperimentRow& status);

}  // namespace troupe::tune::detail
