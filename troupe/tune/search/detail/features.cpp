#include <troupe/tune/search/detail/features.hpp>

#include <algorithm>

namespace troupe::tune::detail {

Features::Features(const Design& design) : axes_(design.size()) {
  for (const Axis& axis : design.axes())
    nominal_.push_back(axis.categorical());
  if (!design.conditional())
    return;
  // Which parameters exist together shows in random points; a group so rare that it does not show
  // has no feature, and its coordinates still count.
  constexpr std::uint64_t draws = 256;
  std::vector<std::vector<bool>> patterns(axes_);
  for (std::uint64_t i = 0; i < draws; ++i) {
    const auto point = design.encode(design.sample(0, i, 0));
    for (std::size_t a = 0; point && a < axes_; ++a)
      patterns[a].push_back(exists((*point)[a]));
  }
  std::vector<std::vector<bool>> known;
  for (std::size_t a = 0; a < axes_; ++a) {
    const std::vector<bool>& pattern = patterns[a];
    const bool always = std::find(pattern.begin(), pattern.end(), false) == pattern.end();
    if (always || std::find(known.begin(), known.end(), pattern) != known.end())
      continue;
    known.push_back(pattern);
    groups_.push_back(a);
    nominal_.push_back(true);
  }
}

Eigen::VectorXd Features::operator()(const Point& point) const {
  Eigen::VectorXd features(size());
  Eigen::Index next = 0;
  for (std::size_t a = 0; a < axes_; ++a)
    features[next++] = exists(point[a]) ? point[a] : nominal_[a] ? -1.0 : 0.5;
  for (const std::size_t a : groups_)
    features[next++] = exists(point[a]) ? 1.0 : 0.0;
  return features;
}

Eigen::MatrixXd Features::operator()(const std::vector<Point>& points) const {
  Eigen::MatrixXd features(static_cast<Eigen::Index>(points.size()), size());
  for (std::size_t i = 0; i < points.size(); ++i)
    features.row(static_cast<Eigen::Index>(i)) = (*this)(points[i]).transpose();
  return features;
}

}  // namespace troupe::tune::detail
