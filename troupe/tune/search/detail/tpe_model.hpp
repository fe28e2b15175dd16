#pragma once

#include <troupe/tune/search/detail/history.hpp>
#include <troupe/tune/search/detail/parzen.hpp>
#include <troupe/tune/search/detail/tpe_split.hpp>
#include <troupe/tune/search/tpe.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace troupe::tune::detail {

/// The algorithm behind `tpe`: proposes a point for a history. What it keeps from one call to the
/// next only saves time: a fresh object proposes the same.
class TpeModel {
public:
  TpeModel() = default;
  explicit TpeModel(const TpeOptions& options) : options_(options) {}

  /// A canonical, allowed point that was not tried before (nor one closer than 1e-6 on every axis).
  /// Nothing while there are too few results, or when no such point was found. `history` is the one
  /// of the call before, continued.
  [[nodiscard]] std::optional<Point> propose(const Design& design, const History& history,
                                             Random random);
  /// The point of this observation, an index into the history, is another one now.
  void amend(const Design& design, std::size_t observation, const Point& point);

private:
  using Block = std::vector<std::size_t>;  ///< axes that are modelled together

  /// Points of one block, the most promising first.
  struct Ranking {
    Block block{};
    std::vector<Parzen::Row> points{};  ///< different ones
  };

  void read(const Design& design, const History& history);
  /// The number of the set of axes that exist at this point.
  [[nodiscard]] std::uint32_t pattern(const Point& point);
  [[nodiscard]] std::vector<Block> blocks(std::size_t axes, bool several,
                                          const History& history) const;
  [[nodiscard]] Ranking rank(const Design& design, const Block& block, const TpeSplit& split,
                             Random& random);
  /// Writes the point at `place` of a ranking into `point`. False when there is none.
  static bool put(const Ranking& ranking, std::size_t place, Point& point);
  [[nodiscard]] std::vector<double> weights_of_good(const TpeSplit& split,
                                                    std::span<const std::uint32_t> members) const;
  [[nodiscard]] std::vector<double> weights_of_others(const TpeSplit& split,
                                                      std::span<const std::uint32_t> members) const;
  [[nodiscard]] bool tried(const Point& point) const;

  TpeOptions options_;
  TpeSplitter splitter_;
  std::vector<ParzenColumn> columns_;
  // Which axes exist together: each set that occurred, and which one each observation has.
  std::map<std::vector<bool>, std::uint32_t> patterns_;
  std::vector<std::uint32_t> pattern_of_;
};

/// What `weights` a kernel has by the age of its observation: the last 25 fully, older ones less
/// and less (Bergstra, Yamins and Cox, hyperopt, ICML 2013).
[[nodiscard]] std::vector<double> age_weights(std::size_t count);

}  // namespace troupe::tune::detail
