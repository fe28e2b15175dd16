#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/ids.hpp>
#include <troupe/serialization/detail/archive.hpp>
#include <troupe/serialization/envelope.hpp>
#include <troupe/serialization/value.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What is in the golden files beside this header. `write.cpp` wrote them; they are read by every
/// later version of Troupe and never written again: a new format gets new files.
namespace golden_sample {

inline constexpr std::uint16_t envelope_type = 480;
inline constexpr std::uint16_t row_type = 481;

inline troupe::Value value() {
  using troupe::List;
  using troupe::Map;
  constexpr double inf = std::numeric_limits<double>::infinity();
  return Map{{"null", nullptr},
             {"bools", List{false, true}},
             {"ints", List{0, 1, -1, std::numeric_limits<std::int64_t>::min(),
                           std::numeric_limits<std::int64_t>::max()}},
             {"doubles",
              List{0.0, -0.0, 1.0, 0.1, 5e-324, 1.7976931348623157e308, inf, -inf, std::nan("")}},
             {"strings", List{"", "text", "\xc3\xa9", "quote\" \\ \n", std::string("\0\x1f", 2),
                              "\xff\xfe", std::string(200, 'x')}},
             {"map", {{"a/b", 1}, {"$key", 2}, {"\xff", 3}, {"", Map{}}}},
             {"list", List{List{}, List{troupe::Value(List{1})}}}};
}

enum class Phase : std::uint8_t { pending, running, done };
constexpr Phase enum_last(Phase) {
  return Phase::done;
}

struct Row {
  troupe::TrialKey key;
  Phase phase = Phase::pending;
  std::vector<double> history;
  std::map<std::string, std::int32_t> counts;
  troupe::Config config;
  troupe::TimePoint started;
  std::optional<std::string> note;  // since version 2

  friend bool operator==(const Row&, const Row&) = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned version) {
    archive(key, phase, history, counts, config, started);
    if (version >= 2)
      archive(note);
  }
};

inline Row row() {
  return {{troupe::TrialId(17), 3},
          Phase::done,
          {0.5, -0.0, 2e10},
          {{"errors", -2}, {"steps", 100}},
          {{"lr", 0.001}, {"layers", troupe::List{64, 32}}},
          troupe::TimePoint{1'234'567'890'123},
          "restarted"};
}

inline std::string row_bytes(std::uint16_t version) {
  std::string payload;
  troupe::detail::write_archive(payload, row(), version);
  return troupe::seal(row_type, version, payload);
}

}  // namespace golden_sample
