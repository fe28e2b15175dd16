// The search algorithms in a loop of one's own: no trials, no workers, no journal.

// [program]
#include <troupe/algorithms.hpp>
#include <troupe/serialization/json.hpp>

#include <iostream>

using namespace troupe;

/// Any function of your own, in any process of yours.
double simulate(const Config& config) {
  const double x = config.at("x").as_double();
  const double y = config.at("y").as_double();
  return (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x);
}

int main() {
  const tune::SearchContext context{
      .space = {{"x", tune::uniform(-2, 2)}, {"y", tune::uniform(-1, 3)}},
      .objectives = {{"loss", Mode::min}},
      .seed = 1,
      .num_samples = 200};
  tune::Optimizer optimizer(*tune::tpe(), context);

  // Four at a time: what is asked for and not told yet is pending, and taken into account.
  for (auto batch = optimizer.ask(4); !batch.empty(); batch = optimizer.ask(4))
    for (const auto& asked : batch)
      optimizer.tell(asked.id, simulate(asked.config));

  std::cout << optimizer.best()->config << ' ' << optimizer.best()->metrics << '\n';

  // Its state is data. An optimizer that restores it goes on exactly where this one stands.
  const std::string saved = to_json(optimizer.save());
  tune::Optimizer later(*tune::tpe(), context);
  later.restore(parse_json(saved, {.max_bytes = 1 << 30}).value_or_throw()).value_or_throw();
  return later.best()->metrics.at("loss").as_double() < 1 ? 0 : 1;
}
// [/program]
