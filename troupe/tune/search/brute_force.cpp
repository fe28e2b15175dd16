#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/detail/allowed_cells.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/sequence_searcher.hpp>

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
    return Map{{"order", detail::option_name(options_.order, order_names)}};
  }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<BruteForce>(*this); }
  bool enumerates() const override { return true; }

protected:
  std::uint64_t farthest() const override { return *design().cells(); }
  std::uint32_t attempts() const override { return 1; }

  Status begin() override {
    TROUPE_RETURN_IF_ERROR(brute_force_options(options()));
    TROUPE_RETURN_IF_ERROR(SequenceSearcher::begin());
    cells_ = {};
    if (!design().cells())
      return not_finite();
    if (options_.order == BruteForceOptions::Order::random)
      cells_ = detail::AllowedCells(
          detail::Permutation(*design().cells(), context().seed, order_stream));
    return ok();
  }

  Result<Proposal> propose(TrialId, std::uint32_t) const override {
    for (std::uint64_t place = next();; ++place) {
      TROUPE_TRY(found, cells_.from(design(), place));
      if (!found)
        return Proposal{.exhausted = true};
      place = *found;
      detail::Point point = cells_.at(design(), place);
      if (!history().seen(detail::fingerprint(design().decode(point))))
        return Proposal{std::move(point), place};
    }
  }

private:
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

  BruteForceOptions options_;
  detail::AllowedCells cells_;
};

}  // namespace

std::shared_ptr<Searcher> brute_force(BruteForceOptions options) {
  return std::make_shared<BruteForce>(options);
}

Result<BruteForceOptions> brute_force_options(const Value& options) {
  BruteForceOptions read;
  detail::OptionReader reader("brute_force", options);
  reader.read("order", read.order, order_names);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return read;
}

}  // namespace troupe::tune
