#include <troupe/tune/search/model_searcher.hpp>
#include <troupe/tune/search/random_search.hpp>

namespace troupe::tune {
namespace {

class RandomSearch final : public ModelSearcher {
public:
  std::string name() const override { return "random"; }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<RandomSearch>(*this); }
  bool instant() const override {
    return !design().constrained() && !design().cells() && design().size() <= instant_axes;
  }

protected:
  bool needs_objective() const override { return false; }
  std::size_t max_objectives() const override { return SIZE_MAX; }
  std::uint32_t attempts() const override { return 0; }
  Result<Proposal> propose(TrialId, std::uint32_t) const override { return Proposal{}; }
};

}  // namespace

std::shared_ptr<Searcher> random_search() {
  return std::make_shared<RandomSearch>();
}

}  // namespace troupe::tune
