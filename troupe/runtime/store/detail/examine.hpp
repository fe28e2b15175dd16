#pragma once

#include <troupe/runtime/store/detail/view.hpp>
#include <troupe/runtime/store/doctor.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::detail {

/// Findings with an end: damage often comes by the thousand.
class Findings {
public:
  void add(Severity severity, std::string place, std::string what, std::string remedy = {});
  [[nodiscard]] bool any(Severity severity) const;
  /// The list, with a last entry that counts what did not fit.
  [[nodiscard]] std::vector<Finding> take();

private:
  std::vector<Finding> findings_;
  std::uint64_t left_out_ = 0;
  bool damage_left_out_ = false;
};

/// What can be read of a store.
struct Examination {
  StoreSchema schema;
  std::string store_id;      ///< empty when it can not be read
  HighWater claimed;         ///< the store's own high-water mark
  HighWater good;            ///< the end of the longest run of sound events from 1
  std::uint64_t events = 0;  ///< that could be read, also behind a gap
  std::uint64_t rows = 0;
  bool rows_sound = true;    ///< every row can be read and comes from an event that is there
  bool rows_current = true;  ///< no row can be an older version of itself
  bool files_sound = true;

  /// Nothing is wrong with the store itself.
  [[nodiscard]] bool sound() const {
    return !store_id.empty() && good == claimed && rows_sound && files_sound;
  }
};

/// What is wrong with a stored row when the events go up to `last`; empty when nothing is.
[[nodiscard]] std::string wrong_with_row(Table table, std::string_view key, std::string_view value,
                                         Sequence last);

/// Reads everything once. `live`: a writer runs, so that the checksums of whole files are left out
/// (files go away under our hands); their blocks are checked as they are read in any case.
Examination examine(const View& view, bool live, Findings& findings);

}  // namespace troupe::detail
