#pragma once

#include <troupe/tune/search/model_searcher.hpp>

#include <memory>
#include <string>

namespace troupe::simulation {

/// Suggests points near the best one seen, so that every result and the order of all of them shows
/// in what follows.
class NearBest final : public tune::ModelSearcher {
public:
  std::string name() const override { return "near_best"; }
  std::unique_ptr<tune::Searcher> clone() const override {
    return std::make_unique<NearBest>(*this);
  }

protected:
  Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const override {
    tune::detail::Point point = random_point(trial, attempt);
    const auto* best = history().best();
    if (best == nullptr)
      return Proposal{.point = point};
    for (std::size_t i = 0; i < point.size(); ++i)
      if (!design().axes()[i].categorical())
        point[i] =
            best->point[i] + 0.1 * (point[i] - 0.5) + 1e-3 * static_cast<double>(history().over());
    return Proposal{.point = point, .note = static_cast<std::int64_t>(history().over())};
  }
  void proposed(const tune::detail::Observation&, const Value& note) override {
    notes_ += note.is_int() ? note.as_int() : 1000;
  }
  Value save_model() const override { return notes_; }
  Status restore_model(const Value& state) override {
    if (!state.is_int())
      return Error(ErrorCode::corrupt, "not a state of near_best");
    notes_ = state.as_int();
    return ok();
  }

private:
  std::int64_t notes_ = 0;
};

}  // namespace troupe::simulation
