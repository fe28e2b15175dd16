#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/permutation.hpp>
#include <troupe/tune/search/detail/sequence_searcher.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tune {
namespace {

const std::vector<std::string_view> order_names{"random", "lexicographic"};
constexpr std::uint64_t order_stream = 0xB207E;

class BruteForce final : public detail::SequenceSearcher {
public:
  explicit BruteForce(BruteForceOptions options) : options_(options) {}

  std::string name() const override { return "brute_force"; }
  Value options() const override {
    return Map{{"order", order_names[static_cast<std::size_t>(options_.order)]}};
  }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<BruteForce>(*this); }

protected:
  std::uint64_t length() const override { return *design().cells(); }
  std::uint32_t attempts() const override { return 1; }

  Status begin() override {
    TROUPE_RETURN_IF_ERROR(SequenceSearcher::begin());
    order_.reset();
    looked_from_ = looked_to_ = 0;
    if (!design().cells())
      return not_finite();
    if (options_.order == BruteForceOptions::Order::random)
      order_.emplace(*design().cells(), context().seed, order_stream);
    return ok();
  }

  Result<Proposal> propose(TrialId, std::uint32_t) const override {
    const std::uint64_t cells = *design().cells();
    if (next() < looked_from_ || next() > looked_to_)
      looked_from_ = looked_to_ = next();
    while (looked_to_ < cells && !cell_at(looked_to_))
      ++looked_to_;
    for (std::uint64_t place = looked_to_; place < cells; ++place) {
      auto point = cell_at(place);
      if (point && !history().seen(detail::fingerprint(design().decode(*point))))
        return Proposal{std::move(point), place};
    }
    return Proposal{.exhausted = true};
  }

private:
  /// The point at a place of the order. Nothing: the space excludes it, or has it elsewhere, too.
  std::optional<detail::Point> cell_at(std::uint64_t place) const {
    const std::uint64_t index = order_ ? (*order_)(place) : place;
    detail::Point point = design().cell(index);
    if (!stands_for_itself(point, index) || !design().allowed(point))
      return std::nullopt;
    return point;
  }

  Error not_finite() const {
    for (const detail::Axis& axis : design().axes())
      if (axis.continuous())
        return Error(ErrorCode::invalid_argument,
                     "the searcher brute_force tries every configuration, but '" + axis.path() +
                         "' = " + axis.domain().to_string() +
                         " has no end of values: give it steps (quniform) or a choice");
    return Error(ErrorCode::invalid_argument,
                 "the searcher brute_force counts cells up to 2^63, and the space has more: use "
                 "random_search, or fewer values");
  }

  /// Cells that differ only in parameters that do not exist are one configuration: the one with
  /// their first values stands for all.
  bool stands_for_itself(const detail::Point& point, std::uint64_t index) const {
    for (std::size_t i = 0; i < point.size(); ++i) {
      const std::uint64_t count = design().axes()[i].count();
      if (!detail::exists(point[i]) && index % count != 0)
        return false;
      index /= count;
    }
    return true;
  }

  BruteForceOptions options_;
  std::optional<detail::Permutation> order_;
  /// The space excludes all places from the first to before the second: not looked at again.
  mutable std::uint64_t looked_from_ = 0;
  mutable std::uint64_t looked_to_ = 0;
};

}  // namespace

std::shared_ptr<Searcher> brute_force(BruteForceOptions options) {
  return std::make_shared<BruteForce>(options);
}

Result<BruteForceOptions> brute_force_options(const Value& options) {
  BruteForceOptions read;
  detail::OptionReader reader("brute_force", options);
  auto order = static_cast<std::size_t>(read.order);
  reader.read("order", order, order_names);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  read.order = static_cast<BruteForceOptions::Order>(order);
  return read;
}

}  // namespace troupe::tune
