#include <troupe/algorithms.hpp>
#include <troupe/tune/search/searcher_suite.hpp>

#include <cmath>
#include <cstdio>

// The algorithms alone: no actors and no journal behind them.
int main() {
  using namespace troupe;
  tune::Optimizer optimizer(*tune::random_search(), {.space = {{"x", tune::uniform(-10, 10)}},
                                                     .objectives = {{"loss", Mode::min}},
                                                     .num_samples = 200});
  while (const auto asked = optimizer.ask())
    optimizer.tell(asked->id, std::abs(asked->config.at("x").as_double() - 3));
  const double x = optimizer.best()->config.at("x").as_double();
  std::printf("x = %g\n", x);
  // What whoever writes a searcher checks it with.
  const tune::HardSearch hard = tune::hard_searches().front();
  const auto broken = tune::check_searcher(*tune::random_search(), hard.context, hard.options);
  for (const std::string& rule : broken)
    std::printf("%s\n", rule.c_str());
  return std::abs(x - 3) < 0.5 && broken.empty() ? 0 : 1;
}
