// A searcher of one's own, and the suite that says which rules of the contract a searcher breaks.

#include <troupe/algorithms.hpp>
// [searcher]
#include <troupe/tune/search/model_searcher.hpp>
#include <troupe/tune/search/searcher_suite.hpp>

#include <iostream>

using namespace troupe;

/// The best configuration so far, each parameter moved a little.
class HillClimbing final : public tune::ModelSearcher {
public:
  std::string name() const override { return "hill_climbing"; }
  std::unique_ptr<tune::Searcher> clone() const override {
    return std::make_unique<HillClimbing>(*this);
  }

protected:
  Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const override {
    const auto* best = history().best();
    if (best == nullptr)
      return Proposal{};  // nothing to say: a random one
    auto point = best->point;
    Random random = this->random(trial, attempt);
    for (std::size_t i = 0; i < point.size(); ++i) {
      const auto& axis = design().axes()[i];
      if (!axis.categorical())
        point[i] += 0.1 * random.normal();  // a range is as long as 1
      else if (random.chance(0.1))
        point[i] = static_cast<double>(random.below(axis.count()));
    }
    return Proposal{point};
  }
};

/// Made-up experiments that have broken searchers elsewhere; how many rules it breaks.
int broken_rules() {
  int count = 0;
  for (const tune::HardSearch& hard : tune::hard_searches()) {
    if (hard.context.objectives.size() > 1)
      continue;  // it serves one
    for (const std::string& rule :
         tune::check_searcher(HillClimbing(), hard.context, hard.options)) {
      std::cout << hard.name << ": " << rule << '\n';
      ++count;
    }
  }
  return count;
}
// [/searcher]

int main() {
  tune::Optimizer optimizer(HillClimbing(), {.space = {{"x", tune::uniform(-2, 2)}},
                                             .objectives = {{"loss", Mode::min}},
                                             .num_samples = 100});
  while (const auto asked = optimizer.ask()) {
    const double x = asked->config.at("x").as_double();
    optimizer.tell(asked->id, (x - 1) * (x - 1));
  }
  std::cout << optimizer.best()->config << '\n';
  return broken_rules() == 0 && optimizer.best()->metrics.at("loss").as_double() < 0.01 ? 0 : 1;
}
