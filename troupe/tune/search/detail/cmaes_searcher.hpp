#pragma once

#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/detail/category_model.hpp>
#include <troupe/tune/search/detail/cma.hpp>
#include <troupe/tune/search/detail/order.hpp>
#include <troupe/tune/search/detail/quadratic_model.hpp>
#include <troupe/tune/search/model_searcher.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::tune::detail {

/// CMA-ES over configurations: what comes when, and what becomes of it.
///
/// The candidates of a generation follow from (seed, run, generation, distribution), so that only
/// the trials that belong to them are state. A candidate whose configuration was tried before takes
/// that result: in a discrete space a generation may need no trial at all.
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
  void observed(const Observation& observation) override;
  Value save_model() const override;
  Status restore_model(const Value& state) override;

private:
  /// One of the points of this generation.
  struct Candidate {
    Eigen::VectorXd x;  ///< numeric coordinates, to be told
    Point point;        ///< canonical
    bool foreign = false;
    bool allowed = true;
    std::optional<TrialId> trial{};
    bool asked = false;  ///< the trial was made for it
  };
  /// A point of another origin: an earlier generation, a user.
  using Others = std::map<std::uint32_t, Eigen::VectorXd>;  ///< by trial

  /// Of which runs there were; BIPOP decides from it what comes next.
  struct Schedule {
    std::int64_t run = 0;
    std::int64_t generation = 0;  ///< of this run
    std::int64_t doublings = 0;
    std::int64_t large_trials = 0;
    std::int64_t small_trials = 0;
    bool large = false;
    bool over = false;
    std::int64_t population = 0;
  };

  /// What the last results predict. A cache: follows from the history and the distribution.
  struct Surrogate {
    std::size_t results = 0;  ///< finished trials when it was made
    std::int64_t run = -1;
    std::int64_t generation = -1;
    std::optional<QuadraticModel> model{};
    double offset = 0;  ///< of losses, as the model knows them
    double range = 1;
    bool trusted = false;
    std::vector<double> predictions{};  ///< of the candidates: losses
  };

  [[nodiscard]] std::size_t first_population() const;
  [[nodiscard]] CmaSettings settings() const;
  [[nodiscard]] std::optional<Cma> warm_start() const;
  [[nodiscard]] Eigen::VectorXd numeric(const Point& point) const;
  [[nodiscard]] Eigen::VectorXd indicators(const Point& point) const;
  [[nodiscard]] Cma::Cells cells() const;

  void begin_generation();
  [[nodiscard]] Candidate candidate(std::size_t index) const;
  [[nodiscard]] Candidate at_minimum() const;
  void take_known(Candidate& candidate) const;
  [[nodiscard]] const Observation* result(const Candidate& candidate) const;
  void advance();
  [[nodiscard]] bool complete() const;
  [[nodiscard]] std::size_t fresh() const;
  void end_generation();
  void learn_categories();
  void restart();
  [[nodiscard]] bool near_failure(const Eigen::VectorXd& x) const;

  [[nodiscard]] Result<Others> others_of(const Value* value) const;
  [[nodiscard]] Status restore_schedule(const Value* value);
  [[nodiscard]] Status restore_asked(const Value* value);

  [[nodiscard]] const Surrogate& surrogate() const;
  void fit(Surrogate& made) const;
  /// Where the regression is least.
  [[nodiscard]] std::optional<Eigen::VectorXd> minimum() const;

  CmaEsOptions options_;
  std::vector<std::size_t> numeric_;
  std::vector<std::size_t> categorical_;
  std::size_t indicator_count_ = 0;

  std::optional<Cma> cma_;  ///< nothing when no parameter is numeric
  CategoryModel categories_{{}};
  Schedule schedule_;
  std::optional<Eigen::VectorXd> minimum_;  ///< candidate 0: where the regression is least
  std::vector<Candidate> candidates_;
  Others late_;   ///< run, and belong to no candidate
  Others other_;  ///< over, belong to no candidate, count for this generation
  std::unordered_map<std::uint64_t, TrialId> tried_;  ///< by fingerprint; discrete spaces only
  mutable Surrogate surrogate_;
};

}  // namespace troupe::tune::detail
