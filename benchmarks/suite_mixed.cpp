#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "benchmarks/suite_parts.hpp"

namespace troupe::bench {
namespace {

constexpr std::size_t variables = 8;  ///< of cat8
constexpr std::size_t levels = 6;     ///< of each

/// What the categories of cat8 cost: each alone, and each beside its neighbour. The cheapest level
/// of every variable costs nothing, nor do these beside each other.
struct CategoryCosts {
  std::array<std::array<double, levels>, variables> alone{};
  std::array<std::array<std::array<double, levels>, levels>, variables - 1> beside{};

  explicit CategoryCosts(std::uint64_t seed) {
    SplitMix random(seed);
    for (auto& costs : alone)
      for (double& cost : costs)
        cost = random.uniform();
    for (auto& table : beside)
      for (auto& row : table)
        for (double& cost : row)
          cost = random.uniform();
    std::array<std::size_t, variables> best{};
    for (std::size_t i = 0; i < variables; ++i) {
      const auto least = std::min_element(alone[i].begin(), alone[i].end());
      best[i] = static_cast<std::size_t>(least - alone[i].begin());
      for (const double lowest = *least; double& cost : alone[i])
        cost -= lowest;
    }
    for (std::size_t i = 0; i + 1 < variables; ++i)
      beside[i][best[i]][best[i + 1]] = 0;
  }
};

double mixed6_value(const Config& config) {
  const std::string& optimizer = config.at("opt").as_string();
  const std::size_t o = optimizer == "sgd" ? 0 : optimizer == "adam" ? 1 : 2;
  // Each optimiser has its own best learning rate.
  const double a = std::log10(config.at("lr").as_double()) + 3.0 - std::array{1.0, 0.0, 0.3}[o];
  const double b = std::log10(config.at("wd").as_double()) + 5.0;
  const double u = std::log2(config.at("units").as_double()) - 8.0;
  const double l = config.at("layers").as_double() - 3;
  const double d = (config.at("dropout").as_double() - 0.2) / 0.1;
  return 0.3 * a * a + 0.05 * b * b + 0.1 * u * u + 0.05 * l * l + 0.08 * square(u + 0.5 * l) +
         0.04 * d * d + 0.05 * std::abs(a * b) + std::array{0.6, 0.0, 0.2}[o];
}

double cond_value(const Config& config) {
  const std::string& booster = config.at("booster").as_string();
  if (booster == "gblinear") {
    const double l = std::log10(config.at("lambda").as_double());
    const double a = std::log10(config.at("alpha").as_double());
    return 0.15 + 0.02 * square(l + 4) + 0.02 * square(a + 3);
  }
  const double d = config.at("depth").as_double() - 7;
  const double e = std::log10(config.at("eta").as_double()) + 1.5;
  const double v = 0.03 * square(d) + 0.2 * square(e) + 0.02 * std::abs(d * e);
  if (booster == "gbtree")
    return v + 0.05;
  const double k = std::log10(config.at("skip").as_double());
  return v + 3 * square(config.at("rate_drop").as_double() - 0.15) + 0.02 * square(k + 4);
}

}  // namespace

TestFunction mixed6() {
  return {.name = "mixed6",
          .space = {{"lr", tune::loguniform(1e-6, 1.0)},
                    {"wd", tune::loguniform(1e-8, 1e-1)},
                    {"layers", tune::randint(1, 7)},
                    {"units", tune::lograndint(16, 1025)},
                    {"opt", tune::choice({"sgd", "adam", "rmsprop"})},
                    {"dropout", tune::quniform(0, 0.5, 0.05)}},
          .value = mixed6_value,
          .scale = 2.41};
}

TestFunction intquad6() {
  constexpr std::size_t dimensions = 6;
  SplitMix random(121);
  Vector optimum(dimensions);
  for (double& value : optimum)
    value = 1 + std::floor(random.uniform() * 19);
  const Matrix rotation = random.rotation(dimensions);
  tune::ParamSpace space;
  for (std::size_t i = 0; i < dimensions; ++i)
    space.add("x" + std::to_string(i), tune::randint(0, 21));
  return {.name = "intquad6",
          .space = space,
          .value =
              [=](const Config& config) {
                const Vector z =
                    product(rotation, difference(coordinates(config, dimensions), optimum));
                double sum = 0;
                for (std::size_t i = 0; i < dimensions; ++i)
                  sum += std::pow(10.0, 2 * static_cast<double>(i) / 5) * z[i] * z[i];
                return sum;
              },
          .scale = 1.07e4};
}

TestFunction cat8() {
  tune::ParamSpace space{{"x0", tune::uniform(0, 1)}, {"x1", tune::uniform(0, 1)}};
  List names;
  for (std::size_t level = 0; level < levels; ++level)
    names.emplace_back("v" + std::to_string(level));
  for (std::size_t i = 0; i < variables; ++i)
    space.add("c" + std::to_string(i), tune::choice(names));
  return {.name = "cat8",
          .space = space,
          .value =
              [costs = CategoryCosts(122)](const Config& config) {
                std::array<std::size_t, variables> chosen{};
                double alone = 0;
                for (std::size_t i = 0; i < variables; ++i) {
                  const std::string& level = config.at("c" + std::to_string(i)).as_string();
                  chosen[i] = static_cast<std::size_t>(level.at(1) - '0');
                  alone += costs.alone[i].at(chosen[i]);
                }
                double beside = 0;
                for (std::size_t i = 0; i + 1 < variables; ++i)
                  beside += costs.beside[i][chosen[i]][chosen[i + 1]];
                return alone + 0.5 * beside +
                       4 * (square(config.at("x0").as_double() - 0.3) +
                            square(config.at("x1").as_double() - 0.7));
              },
          .scale = 5.16};
}

TestFunction cond() {
  const List trees{"gbtree", "dart"};
  return {.name = "cond",
          .space = {{"booster", tune::choice({"gbtree", "gblinear", "dart"})},
                    {"lambda", tune::when("booster", {"gblinear"}, tune::loguniform(1e-8, 1))},
                    {"alpha", tune::when("booster", {"gblinear"}, tune::loguniform(1e-8, 1))},
                    {"depth", tune::when("booster", trees, tune::randint(1, 13))},
                    {"eta", tune::when("booster", trees, tune::loguniform(1e-4, 1))},
                    {"rate_drop", tune::when("booster", {"dart"}, tune::uniform(0, 1))},
                    {"skip", tune::when("booster", {"dart"}, tune::loguniform(1e-6, 1))}},
          .value = cond_value,
          .scale = 0.61};
}

}  // namespace troupe::bench
