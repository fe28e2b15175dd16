#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/sequence_searcher.hpp>
#include <troupe/tune/search/detail/sobol.hpp>
#include <troupe/tune/search/quasi_random.hpp>

#include <string_view>
#include <variant>

namespace troupe::tune {
namespace {

using detail::Halton;
using detail::Sobol;

const std::vector<std::string_view> sequence_names{"sobol", "halton"};

class QuasiRandom final : public detail::SequenceSearcher {
public:
  explicit QuasiRandom(QuasiRandomOptions options) : options_(options) {}

  std::string name() const override { return "quasi_random"; }
  Value options() const override {
    return Map{{"sequence", detail::option_name(options_.sequence, sequence_names)},
               {"scramble", options_.scramble}};
  }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<QuasiRandom>(*this); }
  /// Where rules or earlier trials exclude points, many may be passed over.
  bool instant() const override {
    return !design().constrained() && !design().cells() && design().size() <= instant_axes;
  }

protected:
  /// Where rules exclude most of the space, the rest of it is still filled evenly.
  std::uint32_t attempts() const override { return 200; }

  Status begin() override {
    TROUPE_RETURN_IF_ERROR(quasi_random_options(options()));
    TROUPE_RETURN_IF_ERROR(SequenceSearcher::begin());
    const std::size_t size = design().size();
    const bool sobol = options_.sequence == QuasiRandomOptions::Sequence::sobol;
    if (sobol && size <= Sobol::max_dimensions)
      points_ = std::make_shared<Points>(Sobol(size, context().seed, options_.scramble));
    else
      points_ = std::make_shared<Points>(Halton(size, context().seed, options_.scramble));
    return ok();
  }

  Result<Proposal> propose(TrialId, std::uint32_t attempt) const override {
    const std::uint64_t index = next() + attempt;
    detail::Point point =
        std::visit([&](const auto& sequence) { return sequence.point(index); }, *points_);
    for (std::size_t i = 0; i < point.size(); ++i)
      point[i] = design().axes()[i].from_uniform(point[i]);
    return Proposal{std::move(point), index};
  }

private:
  using Points = std::variant<Sobol, Halton>;

  QuasiRandomOptions options_;
  std::shared_ptr<const Points> points_;  ///< never changes, so that clones share it
};

}  // namespace

std::shared_ptr<Searcher> quasi_random(QuasiRandomOptions options) {
  return std::make_shared<QuasiRandom>(options);
}

Result<QuasiRandomOptions> quasi_random_options(const Value& options) {
  QuasiRandomOptions read;
  detail::OptionReader reader("quasi_random", options);
  reader.read("sequence", read.sequence, sequence_names);
  reader.read("scramble", read.scramble);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return read;
}

}  // namespace troupe::tune
