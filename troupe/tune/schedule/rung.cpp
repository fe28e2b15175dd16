#include <troupe/serialization/objective.hpp>
#include <troupe/tune/schedule/rung.hpp>

#include <algorithm>

namespace troupe::tune {
namespace {

// The standard heaps put the greatest element, by the given "less", on top.
constexpr auto worst_on_top = [](double a, double b) { return better_score(a, b); };
constexpr auto best_on_top = [](double a, double b) { return better_score(b, a); };

template <class Compare>
double pop(std::vector<double>& heap, Compare compare) {
  std::pop_heap(heap.begin(), heap.end(), compare);
  const double value = heap.back();
  heap.pop_back();
  return value;
}

template <class Compare>
void push(std::vector<double>& heap, double value, Compare compare) {
  heap.push_back(value);
  std::push_heap(heap.begin(), heap.end(), compare);
}

Value saved_scores(std::vector<double> scores) {
  std::sort(scores.begin(), scores.end(), better_score);
  return List(scores.begin(), scores.end());
}

bool load_scores(const Value* saved, std::vector<double>& scores) {
  if (saved == nullptr || !saved->is_list())
    return false;
  for (const Value& value : saved->as_list()) {
    if (!value.is_double())
      return false;
    scores.push_back(value.as_double());
  }
  return true;
}

}  // namespace

void Rung::add(double score, std::size_t keep) {
  const bool above = best_.empty() ? rest_.empty() || better_score(score, rest_.front())
                                   : better_score(score, best_.front());
  if (above)
    push(best_, score, worst_on_top);
  else
    push(rest_, score, best_on_top);
  move_line(keep);
}

void Rung::move_line(std::size_t keep) {
  while (best_.size() > keep)
    push(rest_, pop(best_, worst_on_top), best_on_top);
  while (best_.size() < keep && !rest_.empty())
    push(best_, pop(rest_, best_on_top), worst_on_top);
}

std::optional<double> Rung::worst_kept() const {
  if (best_.empty())
    return std::nullopt;
  return best_.front();
}

std::optional<double> Rung::best_dropped() const {
  if (rest_.empty())
    return std::nullopt;
  return rest_.front();
}

Value Rung::save() const {
  return Map{{"best", saved_scores(best_)}, {"rest", saved_scores(rest_)}};
}

Status Rung::restore(const Value& state) {
  const Map* map = state.get_if<Map>();
  Rung loaded(time_);
  if (map == nullptr || !load_scores(map->find_key("best"), loaded.best_) ||
      !load_scores(map->find_key("rest"), loaded.rest_))
    return Error(ErrorCode::corrupt, "the state of a rung must be two lists of numbers");
  std::make_heap(loaded.best_.begin(), loaded.best_.end(), worst_on_top);
  std::make_heap(loaded.rest_.begin(), loaded.rest_.end(), best_on_top);
  *this = std::move(loaded);
  return ok();
}

}  // namespace troupe::tune
