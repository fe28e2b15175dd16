#pragma once

#include <troupe/tune/search/detail/acquisition.hpp>
#include <troupe/tune/search/detail/features.hpp>
#include <troupe/tune/search/detail/gp_data.hpp>
#include <troupe/tune/search/detail/gp_effort.hpp>
#include <troupe/tune/search/detail/rung_results.hpp>
#include <troupe/tune/search/detail/surrogate.hpp>
#include <troupe/tune/search/detail/trust_region.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/model_searcher.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune::detail {

class Sobol;

/// The searcher behind `gp()`.
class GpSearcher final : public ModelSearcher {
public:
  explicit GpSearcher(GpOptions options) : options_(options) {}

  [[nodiscard]] std::string name() const override { return "gp"; }
  [[nodiscard]] Value options() const override;
  [[nodiscard]] std::unique_ptr<Searcher> clone() const override {
    return std::make_unique<GpSearcher>(*this);
  }

protected:
  [[nodiscard]] std::size_t max_objectives() const override { return 3; }
  [[nodiscard]] Status begin() override;
  [[nodiscard]] Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const override;
  void proposed(const Observation& observation, const Value& note) override;
  void observed(const Observation& observation) override;
  [[nodiscard]] Value save_model() const override;
  [[nodiscard]] Status restore_model(const Value& state) override;

private:
  /// Fitted hyperparameters: they start the next fit, so they are part of the state and travel in
  /// the notes of proposals.
  struct Fits {
    std::uint64_t over = 0;  ///< trials over when they were fitted; 0: never
    std::vector<SurrogateParameters> objectives{};
    std::vector<SurrogateParameters> constraints{};
    std::optional<SurrogateParameters> failure{};
  };

  /// What the quadratic model around the best point promises.
  struct Outlook {
    std::optional<TrustStep> step{};
    bool polished = false;  ///< nothing: the best point is as good as it gets around there
  };

  struct FailureModel {
    GpPosterior posterior;
    double limit = 0;  ///< of its values, below it trials succeed
    double least = 0;  ///< standard score of success that a suggestion must have; may be -infinity
  };

  [[nodiscard]] std::optional<Point> startup_point(TrialId trial, std::uint32_t attempt) const;
  [[nodiscard]] Fits fit(const GpData& data) const;
  /// Which scale's fit is begun anew too: both where that is cheap, then one in turn.
  [[nodiscard]] std::size_t scale_afresh(const GpEffort& effort) const;
  [[nodiscard]] SurrogateParameters fit_one(const GpData& data, const Eigen::VectorXd& numbers,
                                            const SurrogateParameters& start,
                                            WarpChoice choice) const;
  [[nodiscard]] SurrogateParameters fit_failure(const GpData& data,
                                                const SurrogateParameters& start) const;
  [[nodiscard]] std::optional<Acquisition> acquisition(const GpData& data, const Fits& fits,
                                                       TrialId trial, double least_gain) const;
  void add_constraints(Acquisition& acquisition, const GpData& data, const Fits& fits) const;
  /// Where trials fail; nothing: none did.
  [[nodiscard]] std::optional<FailureModel> failure_model(const GpData& data,
                                                          const Fits& fits) const;
  bool add_objective(Acquisition& acquisition, const GpData& data, const Fits& fits, TrialId trial,
                     double least_gain) const;
  bool add_objectives(Acquisition& acquisition, const GpData& data, const Fits& fits) const;
  [[nodiscard]] Outlook outlook(const GpData& data, const Fits& fits) const;
  [[nodiscard]] bool turn_to_step(TrialId trial) const;
  [[nodiscard]] std::vector<std::size_t> trust_axes(const Point& best) const;
  [[nodiscard]] Eigen::VectorXd trust_scales(const std::vector<std::size_t>& axes,
                                             const Fits& fits) const;
  [[nodiscard]] Point with_axes(const Point& best, const std::vector<std::size_t>& axes,
                                const Eigen::VectorXd& values) const;
  [[nodiscard]] std::optional<TrustStep> grid_step(const GpData& data, const TrustModel& model,
                                                   const std::vector<std::size_t>& axes,
                                                   TrustStep step) const;
  [[nodiscard]] std::optional<Point> acquisition_point(const GpData& data,
                                                       const Acquisition& acquisition,
                                                       const Fits& fits, TrialId trial,
                                                       std::uint32_t attempt) const;
  /// Is the acquisition looked at around the best points alone?
  [[nodiscard]] bool turn_to_best(TrialId trial) const;
  [[nodiscard]] bool is_new(const Point& point) const;
  [[nodiscard]] bool is_safe(const Point& point, const GpData& data, const Fits& fits) const;
  [[nodiscard]] bool consistent(const TrustRegion& region, std::optional<TrialId> best) const;
  [[nodiscard]] Value fits_data(const Fits& fits) const;
  [[nodiscard]] Result<Fits> restore_fits(const Value& state) const;

  GpOptions options_;
  std::shared_ptr<const Sobol> sobol_;  ///< immutable, shared by copies; null: too many axes
  Features features_;
  Fits fits_;
  TrustRegion region_;
  RungResults rungs_;            ///< one objective only
  std::optional<TrialId> best_;  ///< the observation that the region is centred on
};

}  // namespace troupe::tune::detail
