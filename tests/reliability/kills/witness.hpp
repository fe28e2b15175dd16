#pragma once

#include <troupe/runtime/store/secondary_reader.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>

#include "tests/reliability/kills/table.hpp"

namespace troupe::testing {

/// What an onlooker saw accepted. A lost result would be missing from a later look.
class Witness {
public:
  explicit Witness(std::filesystem::path experiment) : experiment_(std::move(experiment)) {}

  /// Looks again; true when something is there.
  bool look();
  std::size_t results() const { return accepted_.size(); }
  /// Was the experiment asked to stop, as far as it looked?
  bool stopping() const;

  /// Reads everything again from the beginning: what was seen must still be there, unchanged.
  void check_nothing_lost() const;

private:
  std::filesystem::path experiment_;
  std::unique_ptr<SecondaryReader> reader_;
  Sequence seen_;
  AcceptedResults accepted_;
};

}  // namespace troupe::testing
