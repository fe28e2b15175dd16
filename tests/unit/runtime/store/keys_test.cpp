#include <troupe/runtime/store/keys.hpp>

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("the byte order of keys is the order of their numbers") {
  std::vector<std::string> in_order;
  for (const std::uint32_t trial : {0u, 1u, 255u, 256u, 65536u, 0xffffffffu})
    for (const std::uint64_t iteration : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{256},
                                          std::uint64_t{1} << 32, ~std::uint64_t{0}})
      in_order.push_back(keys::result_key(TrialId(trial), iteration));
  CHECK(std::is_sorted(in_order.begin(), in_order.end()));
  CHECK(std::adjacent_find(in_order.begin(), in_order.end()) == in_order.end());
}

TEST_CASE("keys have the layout of the format") {
  CHECK(keys::trial_key(TrialId(0x01020304)) == "\x01\x02\x03\x04");
  CHECK(keys::result_key(TrialId(1), 2) == std::string("\0\0\0\1\0\0\0\0\0\0\0\2", 12));
  CHECK(keys::checkpoint_key(TrialId(1), 0xff) == std::string("\0\0\0\1\0\0\0\xff", 8));
}

TEST_CASE("a key comes back from its bytes, and only from as many as it has") {
  const auto result = keys::result_key(TrialId(7), 1234567890123u);
  CHECK(keys::parse_result_key(result) == keys::ResultKey{TrialId(7), 1234567890123u});
  CHECK(keys::parse_trial_key(keys::trial_key(TrialId(9))) == TrialId(9));
  CHECK(keys::parse_checkpoint_key(keys::checkpoint_key(TrialId(7), 3)) ==
        keys::CheckpointKey{TrialId(7), 3});
  CHECK_FALSE(keys::parse_result_key(result.substr(1)));
  CHECK_FALSE(keys::parse_result_key(result + "x"));
  CHECK_FALSE(keys::parse_trial_key(""));
  CHECK_FALSE(keys::parse_checkpoint_key("1234567"));
}
