#include <troupe/base/ids.hpp>

#include <sstream>
#include <type_traits>
#include <unordered_set>

#include <doctest/doctest.h>

using namespace troupe;

static_assert(!std::is_convertible_v<std::uint32_t, TrialId>);
static_assert(!std::is_convertible_v<TrialId, std::uint32_t>);
static_assert(!std::is_constructible_v<TrialId, Attempt>);

TEST_CASE("ids compare, print and hash by their number") {
  CHECK(TrialId(3) == TrialId(3));
  CHECK(TrialId(3) < TrialId(4));
  CHECK(TrialId(3).next() == TrialId(4));
  CHECK(to_string(WorkerId(77)) == "77");
  std::ostringstream out;
  out << Sequence(5) << ' ' << TrialKey{TrialId(17), 2};
  CHECK(out.str() == "5 17.2");
  const std::unordered_set<TrialId> ids{TrialId(1), TrialId(2), TrialId(1)};
  CHECK(ids.size() == 2);
}

TEST_CASE("trial keys order by trial, then attempt, and hash both") {
  const TrialKey a{TrialId(1), 5};
  const TrialKey b{TrialId(2), 0};
  const TrialKey c{TrialId(1), 6};
  CHECK(a < b);
  CHECK(a < c);
  CHECK(a == TrialKey{TrialId(1), 5});
  const std::unordered_set<TrialKey> keys{a, b, c, a};
  CHECK(keys.size() == 3);
}
