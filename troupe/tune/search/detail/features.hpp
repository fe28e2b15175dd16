#pragma once

#include <troupe/tune/search/detail/design.hpp>

#include <cstddef>
#include <vector>

#include <Eigen/Core>

/// Points of a design as a kernel compares them.
namespace troupe::tune::detail {

/// One feature an axis: coordinates as they are, categories by name. A coordinate that does not
/// exist lies in the middle, a category that does not exist is one of its own. For each group of
/// parameters that exist together, and not always, a nominal feature says whether they do: so two
/// configurations without these parameters are alike, whatever else they have.
class Features {
public:
  Features() = default;
  explicit Features(const Design& design);

  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(nominal_.size()); }
  [[nodiscard]] const std::vector<bool>& nominal() const { return nominal_; }
  [[nodiscard]] Eigen::VectorXd operator()(const Point& point) const;
  [[nodiscard]] Eigen::MatrixXd operator()(const std::vector<Point>& points) const;

private:
  std::size_t axes_ = 0;
  std::vector<bool> nominal_;
  std::vector<std::size_t> groups_;  ///< an axis of each group
};

}  // namespace troupe::tune::detail
