#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tune {

/// Grid and random search, the default: `num_samples` times the product of all grids.
///
/// Variant number i is cell i % cells of sample i / cells. In the grid the keys are sorted by path
/// and the first one varies fastest. Everything that is drawn is drawn anew for each variant. The
/// configuration is a pure function of (space, seed, i), and the draw for one parameter does not
/// depend on the other parameters.
class BasicVariant final : public Searcher {
public:
  BasicVariant() = default;

  [[nodiscard]] std::string name() const override { return "basic_variant"; }
  [[nodiscard]] std::unique_ptr<Searcher> clone() const override;
  [[nodiscard]] Status setup(const SearchContext& context) override;
  [[nodiscard]] std::optional<std::uint64_t> planned(const SearchContext& context) const override;
  [[nodiscard]] Result<Suggestion> suggest(TrialId trial) const override;
  void record(TrialId trial, const Config& config, const Value& note) override;
  [[nodiscard]] Value save() const override;
  [[nodiscard]] Status restore(const Value& state) override;

  /// The configuration of variant `index`. After `setup`.
  [[nodiscard]] Config variant(std::uint64_t index) const;
  /// Cells of the grid: the product of the lengths of all grids, at least 1.
  [[nodiscard]] std::uint64_t cells() const { return cells_; }

private:
  struct Plan {
    std::string path;
    std::uint32_t counter = 0;  ///< of the random numbers of this parameter
    std::uint64_t stride = 0;   ///< grids: variants between two values
    std::optional<Domain> domain;
  };

  Config constants_;
  std::vector<Plan> plan_;
  std::uint64_t seed_ = 0;
  std::uint64_t cells_ = 1;
  std::optional<std::uint64_t> planned_;
  std::uint64_t next_ = 0;
};

/// For `TuneConfig::search_alg`.
std::shared_ptr<Searcher> basic_variant();

}  // namespace troupe::tune
