#include <troupe/tune/search/detail/category_model.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe::tune::detail {
namespace {

constexpr double elite_share = 0.2;

/// Shares of the categories of one axis among some rows, with one more row spread over all of them.
std::vector<double> shares(std::span<const std::vector<double>* const> rows, std::size_t place,
                           std::size_t count) {
  std::vector<double> result(count, 1 / static_cast<double>(count));
  double total = 1;
  for (const std::vector<double>* row : rows)
    if (const double category = (*row)[place]; category == category) {
      result[static_cast<std::size_t>(category)] += 1;
      total += 1;
    }
  for (double& share : result)
    share /= total;
  return result;
}

}  // namespace

CategoryModel::CategoryModel(std::vector<std::uint64_t> counts) {
  for (const std::uint64_t count : counts)
    probabilities_.emplace_back(static_cast<std::size_t>(count), 1 / static_cast<double>(count));
}

void CategoryModel::learn(std::span<const std::vector<double>* const> best_first,
                          std::span<const std::size_t> places) {
  const auto elite =
      static_cast<std::size_t>(std::ceil(elite_share * static_cast<double>(best_first.size())));
  // The chance to leave the learnt distribution: about one axis in two configurations.
  const double free =
      probabilities_.empty() ? 0 : std::min(0.2, 0.5 / static_cast<double>(probabilities_.size()));
  for (std::size_t axis = 0; axis < probabilities_.size(); ++axis) {
    std::vector<double>& p = probabilities_[axis];
    const auto good = shares(best_first.first(elite), places[axis], p.size());
    const auto bad = shares(best_first.subspan(elite), places[axis], p.size());
    double total = 0;
    for (std::size_t c = 0; c < p.size(); ++c)
      total += p[c] = good[c] * (good[c] / bad[c]);
    for (double& probability : p)
      probability = (1 - free) * probability / total + free / static_cast<double>(p.size());
  }
}

std::vector<double> CategoryModel::sample(Random& random) const {
  std::vector<double> result;
  result.reserve(probabilities_.size());
  for (const std::vector<double>& p : probabilities_) {
    double left = random.uniform();
    std::size_t chosen = 0;
    while (chosen + 1 < p.size() && left >= p[chosen])
      left -= p[chosen++];
    result.push_back(static_cast<double>(chosen));
  }
  return result;
}

Value CategoryModel::save() const {
  List axes;
  for (const std::vector<double>& p : probabilities_)
    axes.push_back(List(p.begin(), p.end()));
  return axes;
}

Status CategoryModel::restore(const Value& state) {
  const Error bad(ErrorCode::corrupt, "the probabilities of categories are incomplete");
  const List* axes = state.get_if<List>();
  if (axes == nullptr || axes->size() != probabilities_.size())
    return bad;
  std::vector<std::vector<double>> restored;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const List* list = (*axes)[i].get_if<List>();
    if (list == nullptr || list->size() != probabilities_[i].size())
      return bad;
    std::vector<double>& p = restored.emplace_back();
    for (const Value& probability : *list) {
      if (!is_within(probability, 0, 1))
        return bad;
      p.push_back(probability.as_double());
    }
  }
  probabilities_ = std::move(restored);
  return ok();
}

}  // namespace troupe::tune::detail
