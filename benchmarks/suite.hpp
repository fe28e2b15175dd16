#pragma once

#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/space.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The functions that search algorithms are compared on: RS-23, 23 functions with known optima of
/// 2 to 10 parameters: smooth, multimodal, rotated, integer, categorical, conditional, noisy.
///
/// The same functions in Python: benchmarks/peers/suite.py, for other optimisers.
namespace troupe::bench {

struct TestFunction {
  std::string name;
  tune::ParamSpace space;
  /// To be minimised; without noise. Pure and safe to call from several threads.
  std::function<double(const Config&)> value;
  double optimum = 0;  ///< its least value
  double noise = 0;    ///< standard deviation of the normal noise that an observation has
  double scale = 1;    ///< median of value - optimum over random points: the unit of regrets
  /// Regrets below this part of `scale` are as good as none: tables cannot tell more.
  double resolution = 1e-6;
};

/// All of them, always in this order. Searchers are developed on those at even indices (the first,
/// the third, ...); the others tell whether what was learned there holds elsewhere.
[[nodiscard]] const std::vector<TestFunction>& suite();

/// The function of this name, or the real task (task_table.hpp). Throws Exception not_found that
/// lists the names.
[[nodiscard]] const TestFunction& test_function(std::string_view name);

}  // namespace troupe::bench
