#pragma once

#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune {

/// Grid and random search: `num_samples` times the product of all grids. What `auto_searcher` hands
/// a space with grids to, and an experiment without a metric.
///
/// Variant number i is cell i % cells of sample i / cells (points to evaluate not counted). In the
/// grid the keys are sorted by path and the first one varies fastest. Everything that is drawn is
/// drawn anew for each variant. The configuration is a pure function of (space, seed, i), and the
/// draw for one parameter does not depend on the other parameters.
///
/// Cells that differ only in parameters that do not exist are one cell, and cells that break a
/// constraint are none. Points to evaluate come first, and each of them takes a sample; what they
/// leave out is drawn, and of grids they take the first value, so that the rules hold that their
/// own values do not break. Where a constraint is about drawn parameters, a variant is drawn again
/// until it holds. Drawn configurations may repeat; `random_search` never repeats one.
class BasicVariant final : public Searcher {
public:
  BasicVariant() = default;

  [[nodiscard]] std::string name() const override { return "basic_variant"; }
  [[nodiscard]] std::unique_ptr<Searcher> clone() const override;
  [[nodiscard]] bool instant() const override { return !design_ && plan_.size() <= instant_plans; }
  [[nodiscard]] Status setup(const SearchContext& context) override;
  [[nodiscard]] std::optional<std::uint64_t> planned(const SearchContext& context) const override;
  [[nodiscard]] Result<Suggestion> suggest(TrialId trial) const override;
  void record(TrialId trial, const Config& config, const Value& note) override;
  [[nodiscard]] Value save() const override;
  [[nodiscard]] Status restore(const Value& state) override;

  /// The configuration of variant `index`, after `setup`. invalid_argument when no draw out of
  /// 1,000 satisfies the constraints.
  [[nodiscard]] Result<Config> variant(std::uint64_t index) const;
  /// Cells of the grid: the product of the lengths of all grids, at least 1, less those that
  /// conditions and constraints take away.
  [[nodiscard]] std::uint64_t cells() const { return selected_ ? selected_->size() : all_cells_; }

private:
  /// Up to so many parameters a configuration takes some ten microseconds.
  static constexpr std::size_t instant_plans = 100;

  struct Plan {
    std::string path;
    std::uint32_t counter = 0;  ///< of the random numbers of this parameter
    std::uint64_t stride = 0;   ///< grids: variants between two values
    std::optional<Domain> domain;
  };

  Status read_space(const ParamSpace& space);
  Status select_cells(const ParamSpace& space);
  /// The space with the rules that a point does not break by itself.
  [[nodiscard]] ParamSpace rules_for(const Config& point) const;
  [[nodiscard]] Config draw(std::uint64_t index, std::uint32_t attempt) const;

  Config constants_;
  std::vector<Plan> plan_;
  std::vector<Config> points_;  ///< to evaluate first
  /// Only where there are conditions or constraints.
  std::optional<detail::Design> design_;
  std::optional<std::vector<std::uint64_t>> selected_;  ///< cells that count
  std::uint64_t seed_ = 0;
  std::uint64_t all_cells_ = 1;
  std::optional<std::uint64_t> planned_;
  std::uint64_t next_ = 0;
};

/// For `TuneConfig::search_alg`.
std::shared_ptr<Searcher> basic_variant();

}  // namespace troupe::tune
