#pragma once

#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/detail/cmaes_generations.hpp>
#include <troupe/tune/search/detail/cmaes_surrogate.hpp>
#include <troupe/tune/search/detail/neighbours.hpp>
#include <troupe/tune/search/model_searcher.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::tune::detail {

/// CMA-ES as a searcher: what is suggested, given where the generations stand.
///
/// The regression is fitted where a suggestion is made, beside the trial loop. That it ends a
/// generation is noted in the suggestion, with what it foretold, so that the loop need not fit it.
class CmaEsSearcher final : public ModelSearcher {
public:
  explicit CmaEsSearcher(CmaEsOptions options) : options_(options) {}

  std::string name() const override { return "cmaes"; }
  Value options() const override;
  std::unique_ptr<Searcher> clone() const override {
    return std::make_unique<CmaEsSearcher>(*this);
  }

protected:
  Status begin() override;
  Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const override;
  std::uint32_t attempts() const override { return 8; }
  void proposed(const Observation& observation, const Value& note) override;
  void amended(const Observation& observation) override;
  void observed(const Observation& observation) override;
  Value save_model() const override;
  Status restore_model(const Value& state) override;

private:
  struct Choice {
    std::size_t index = 0;  ///< of the candidate
    Point point{};
  };

  /// What a suggestion would be now. A cache: follows from the state.
  struct Plan {
    std::uint64_t change = 0;  ///< the state it was made in
    std::optional<CmaEsSurrogate> surrogate{};
    std::vector<double> predictions{};       ///< for the end of the generation; empty: it goes on
    std::optional<CmaEsGenerations> next{};  ///< after that end
    std::optional<Point> minimum{};          ///< comes first
    std::optional<std::vector<Choice>> order{};  ///< candidates, the best first
    std::size_t free = 0;    ///< so many of them, the first, are known to have no neighbours
    std::size_t beyond = 0;  ///< number of the candidate after them
  };

  [[nodiscard]] CmaEsProblem problem() const;
  [[nodiscard]] bool minimum_runs() const;
  [[nodiscard]] bool crowded(const Point& point) const;
  [[nodiscard]] std::size_t choice() const;
  [[nodiscard]] Plan plan() const;
  [[nodiscard]] Proposal elsewhere(TrialId trial, std::uint32_t attempt) const;
  void order_candidates(Plan& plan) const;
  void drop_crowded(Plan& plan, std::size_t number) const;
  void look_beyond(Plan& plan, std::size_t many) const;
  void put_safe_first(Plan& plan) const;
  void index_trials();

  CmaEsOptions options_;
  CmaEsAxes axes_;
  CmaEsGenerations generations_;
  std::unordered_map<std::uint64_t, TrialId> tried_;  ///< by fingerprint; discrete spaces only
  std::optional<TrialId> minimum_;                    ///< the last trial of a regression's minimum
  std::uint64_t change_ = 0;                          ///< counts what may change a plan
  mutable Plan plan_;
  mutable Neighbours neighbours_;
};

}  // namespace troupe::tune::detail
