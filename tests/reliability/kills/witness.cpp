#include "tests/reliability/kills/witness.hpp"

#include <troupe/tune/experiment_reader.hpp>

#include <variant>

#include <doctest/doctest.h>

namespace troupe::testing {

bool Witness::look() {
  if (!reader_) {
    auto opened = open_secondary(experiment_);
    if (!opened)
      return false;
    reader_ = opened.take();
  }
  if (!reader_->refresh())
    return false;
  read_accepted(*reader_, seen_, accepted_);
  return true;
}

bool Witness::stopping() const {
  bool asked = false;
  tune::for_each_event(*reader_, Sequence(), [&](Sequence, const tune::EventRecord& event) {
    asked = asked || std::holds_alternative<StopRequested>(event.body);
    return !asked;
  }).value_or_throw();
  return asked;
}

void Witness::check_nothing_lost() const {
  if (!reader_)
    return;  // ended before there was a store
  const auto reader = open_secondary(experiment_).value_or_throw();
  AcceptedResults now;
  Sequence seen;
  read_accepted(*reader, seen, now);
  CHECK(seen >= seen_);
  for (const auto& [key, essence] : accepted_) {
    const auto found = now.find(key);
    REQUIRE_MESSAGE(found != now.end(), "lost: trial ", key.first.value, " result ", key.second);
    REQUIRE(found->second == essence);
  }
}

}  // namespace troupe::testing
