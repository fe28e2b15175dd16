#pragma once

#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/detail/category_model.hpp>
#include <troupe/tune/search/detail/cma.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/history.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace troupe::tune::detail {

/// Which axes of a space CMA-ES treats how.
struct CmaEsAxes {
  std::vector<std::size_t> numeric;
  std::vector<std::size_t> categorical;
  std::size_t indicators = 0;  ///< categories of all categorical axes

  CmaEsAxes() = default;
  explicit CmaEsAxes(const Design& design);
};

/// What generations go by, and do not change.
struct CmaEsProblem {
  const Design& design;
  const History& history;
  const CmaEsAxes& axes;
  const CmaEsOptions& options;
  std::uint64_t seed;
  /// Trials by fingerprint; discrete spaces only.
  const std::unordered_map<std::uint64_t, TrialId>& tried;
};

/// CMA-ES over configurations: what is asked in a generation, what becomes of it, and which run
/// follows when one has converged. A value; equal calls give equal states.
///
/// The candidates of a generation follow from (seed, run, generation, distribution), so that only
/// the trials that belong to them are state. A candidate whose configuration was tried before takes
/// that result: in a discrete space a generation may need no trial at all.
class CmaEsGenerations {
public:
  /// Numbers of candidates are below that.
  static constexpr std::int64_t largest_index = 1 << 20;

  /// One of the points of a generation.
  struct Candidate {
    Eigen::VectorXd x;  ///< numeric coordinates, to be told
    Point point;        ///< canonical
    bool allowed = true;
    std::uint64_t fingerprint = 0;   ///< discrete spaces only
    std::optional<TrialId> trial{};  ///< that has this configuration
    bool asked = false;              ///< the trial was made for it
  };
  /// Where the search stands; BIPOP decides from it what comes next.
  struct Schedule {
    std::int64_t run = 0;
    std::int64_t generation = 0;  ///< of this run
    std::int64_t doublings = 0;
    std::int64_t large_trials = 0;
    std::int64_t small_trials = 0;
    std::int64_t large = 0;  ///< 1: this run has a large population
    std::int64_t over = 0;   ///< 1: no run follows
    std::int64_t population = 0;
    std::int64_t asked = 0;    ///< trials made for this generation
    std::int64_t results = 0;  ///< of these
    std::int64_t ahead = 0;    ///< generations that a regression ended since the last result
  };

  CmaEsGenerations() = default;
  /// At the start, or where results that were known before lead to.
  explicit CmaEsGenerations(const CmaEsProblem& problem);

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] bool over() const { return schedule_.over != 0; }
  /// Nothing when no parameter is numeric.
  [[nodiscard]] const std::optional<Cma>& distribution() const { return cma_; }
  [[nodiscard]] const CategoryModel& categories() const { return categories_; }
  /// The first `population` candidates.
  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Candidate `index`: the distribution has more to give than the population.
  [[nodiscard]] Candidate candidate(const CmaEsProblem& problem, std::size_t index) const;
  /// The numbers of candidates beyond the population that this generation's trials have.
  [[nodiscard]] std::set<std::size_t> further() const;
  /// Numeric coordinates. Those that do not exist stay where the distribution is: they neither pull
  /// nor push.
  [[nodiscard]] Eigen::VectorXd numeric(const CmaEsProblem& problem, const Point& point) const;
  void numeric(const CmaEsProblem& problem, const Point& point,
               Eigen::Ref<Eigen::VectorXd> x) const;
  /// The point with these numeric coordinates and the likeliest categories, canonical.
  [[nodiscard]] Point point(const CmaEsProblem& problem, const Eigen::VectorXd& x) const;
  /// Squared, from the mean, in units of the deviations of each coordinate alone.
  [[nodiscard]] double distance(const CmaEsProblem& problem, const Point& point) const;

  /// The trial was made for candidate `index` of this generation, if that is its configuration.
  /// Nothing: its point has another origin.
  void begin(const CmaEsProblem& problem, const Observation& trial,
             std::optional<std::size_t> index);
  /// The trial was made for this generation, but its point is none of the distribution.
  void begin_beside(const CmaEsProblem& problem, const Observation& trial);
  /// The trial is over. A generation ends with as many results as the population.
  void finish(const CmaEsProblem& problem, const Observation& trial);
  /// Ends the generation; a loss for each candidate stands in where there is no result.
  void end(const CmaEsProblem& problem, std::span<const double> predictions);

  [[nodiscard]] Value save() const;
  /// corrupt when the data is not a state that belongs to this problem.
  static Result<CmaEsGenerations> restore(const CmaEsProblem& problem, const Value& state);

private:
  /// A point that is none of `candidates_`.
  struct Other {
    static constexpr std::int64_t beside = -1;     ///< made for this generation in another way
    static constexpr std::int64_t elsewhere = -2;  ///< an earlier generation, a user
    Eigen::VectorXd x;
    std::int64_t index = elsewhere;  ///< of a further candidate of this generation, or its origin
  };
  using Others = std::map<std::uint32_t, Other>;  ///< by trial
  struct Entry;

  static constexpr int max_doublings = 7;

  static CmaSettings settings(const CmaEsProblem& problem, std::int64_t population);
  static std::size_t first_population(const CmaEsProblem& problem);
  [[nodiscard]] std::optional<Cma> warm_start(const CmaEsProblem& problem) const;
  void begin_generation(const CmaEsProblem& problem);
  void note_configuration(const CmaEsProblem& problem, const Observation& trial);
  void advance(const CmaEsProblem& problem);
  [[nodiscard]] bool complete(const CmaEsProblem& problem) const;
  [[nodiscard]] std::vector<Entry> entries(const CmaEsProblem& problem,
                                           std::span<const double> predictions) const;
  void end_generation(const CmaEsProblem& problem, std::span<const double> predictions);
  void restart(const CmaEsProblem& problem);
  void learn_categories(const CmaEsProblem& problem);

  Status restore_schedule(const CmaEsProblem& problem, const Value* value);
  Status restore_asked(const CmaEsProblem& problem, const Value* value);
  /// Of trials that are `over` or run.
  static Result<Others> others_of(const CmaEsProblem& problem, const Value* value, bool over);

  Schedule schedule_;
  std::optional<Cma> cma_;
  CategoryModel categories_{{}};
  std::vector<Candidate> candidates_;
  Eigen::VectorXd precisions_;  ///< inverse variances of the coordinates; a cache
  Others running_;
  Others results_;  ///< that count for this generation
};

}  // namespace troupe::tune::detail
