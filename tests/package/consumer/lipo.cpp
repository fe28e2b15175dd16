#include <troupe/tune/search/lipo.hpp>
#include <troupe/tune/search/optimizer.hpp>

#include <cstdio>

// The searcher that needs dlib, and its name in make_searcher.
int main() {
  using namespace troupe;
  tune::Optimizer optimizer(*tune::lipo(), {.space = {{"x", tune::uniform(-10, 10)}},
                                            .objectives = {{"loss", Mode::min}},
                                            .num_samples = 30});
  while (const auto asked = optimizer.ask()) {
    const double x = asked->config.at("x").as_double();
    optimizer.tell(asked->id, (x - 3) * (x - 3));
  }
  const double loss = optimizer.best()->metrics.at("loss").as_double();
  std::printf("loss = %g\n", loss);
  return loss < 1e-9 && tune::make_searcher("lipo", {}).has_value() ? 0 : 1;
}
