#pragma once

#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/history.hpp>

#include <vector>

namespace troupe::tune::detail {

/// Where trials fail, as their nearest neighbours tell: for searchers whose model of the objective
/// does not know the edge of such a region. A pure function of the history, which must outlive it.
class FailureMap {
public:
  FailureMap(const Design& design, const History& history);

  /// There is nothing that it can tell: no trial failed, or no other one is over.
  [[nodiscard]] bool empty() const { return failed_.empty() || others_.empty(); }
  /// Did most of the three nearest trials fail? While few trials fail, a failed one counts as twice
  /// as far as it is, so that failures by chance keep nobody away; while many do, as half as far.
  [[nodiscard]] bool near(const Point& point) const;
  /// Did the nearest trial of all fail? For callers that weigh a few failures themselves.
  [[nodiscard]] bool nearest_failed(const Point& point) const;

private:
  [[nodiscard]] double distance(const Point& a, const Point& b) const;

  const Design& design_;
  std::vector<const Point*> failed_;
  std::vector<const Point*> others_;
  double reach_ = 1;  ///< by what the distance of failed ones is divided, squared
};

}  // namespace troupe::tune::detail
