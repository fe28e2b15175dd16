#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tune {

/// A search without an experiment around it: asks, computes, tells.
class AskTell {
public:
  using Losses = std::function<std::vector<double>(const Config&)>;

  /// The losses are those of the objectives of `context`, all of which are minimised, and behind
  /// them the values of its constraints.
  AskTell(Searcher& searcher, const SearchContext& context, Losses objective)
      : searcher_(searcher), context_(context), losses_(std::move(objective)) {}
  /// Goes on where `other` is, with a searcher that has the same state.
  AskTell(Searcher& searcher, const AskTell& other)
      : configs(other.configs),
        losses(other.losses),
        searcher_(searcher),
        context_(other.context_),
        losses_(other.losses_),
        next_(other.next_),
        told_(other.told_) {}

  /// Creates a trial that runs. False when the searcher is exhausted.
  bool ask() {
    const TrialId id(next_);
    Suggestion next = searcher_.suggest(id).value_or_throw();
    if (next.kind != Suggestion::Kind::config)
      return false;
    ++next_;
    searcher_.record(id, next.config, next.note);
    configs.push_back(std::move(next.config));
    return true;
  }
  /// Ends the oldest trial that runs. NaN is a failure.
  void tell(Ending ending = Ending::finished, std::int64_t step = 1) {
    const std::vector<double> values = losses_(configs[told_]);
    Metrics metrics{{"training_iteration", step}};
    const std::size_t objectives = context_.objectives.size();
    for (std::size_t i = 0; i < values.size(); ++i)
      metrics.set(
          i < objectives ? context_.objectives[i].metric : context_.constraints[i - objectives],
          values[i]);
    const TrialId id(told_++);
    if (std::isnan(values.at(0)))
      searcher_.on_complete(id, Ending::failed, nullptr);
    else
      searcher_.on_complete(id, ending, &metrics);
    losses.push_back(values);
  }
  /// So many trials, one after the other, or until the searcher is exhausted.
  void run(std::size_t trials) {
    for (std::size_t i = 0; i < trials && ask(); ++i)
      tell();
  }
  [[nodiscard]] double best() const {
    double least = HUGE_VAL;
    for (const auto& values : losses)
      least = std::fmin(least, values[0]);
    return least;
  }

  std::vector<Config> configs{};
  std::vector<std::vector<double>> losses{};

private:
  Searcher& searcher_;
  SearchContext context_;
  Losses losses_;
  std::uint32_t next_ = 0;
  std::uint32_t told_ = 0;
};

}  // namespace troupe::tune
