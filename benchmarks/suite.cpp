#include "benchmarks/suite.hpp"

#include <troupe/base/error.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "benchmarks/suite_parts.hpp"
#include "benchmarks/task_table.hpp"

namespace troupe::bench {

Vector coordinates(const Config& config, std::size_t size) {
  Vector result(size);
  for (std::size_t i = 0; i < size; ++i)
    result[i] = config.at("x" + std::to_string(i)).as_double();
  return result;
}

namespace {

constexpr double pi = std::numbers::pi;

tune::ParamSpace box(std::size_t size, double low, double high) {
  tune::ParamSpace space;
  for (std::size_t i = 0; i < size; ++i)
    space.add("x" + std::to_string(i), tune::uniform(low, high));
  return space;
}

/// A function of the vector x0, x1, ... as one of a configuration.
template <class Function>
auto of_vector(std::size_t size, Function function) {
  return [size, function = std::move(function)](const Config& config) {
    return function(coordinates(config, size));
  };
}

double branin(const Vector& p) {
  const double b = 5.1 / (4 * pi * pi);
  const double c = 5 / pi;
  return square(p[1] - b * p[0] * p[0] + c * p[0] - 6) + 10 * (1 - 1 / (8 * pi)) * std::cos(p[0]) +
         10;
}

double camel(const Vector& p) {
  const double x = p[0], y = p[1], xx = x * x;
  return (4 - 2.1 * xx + xx * xx / 3) * xx + x * y + (-4 + 4 * y * y) * y * y;
}

/// The four peaks of Hartmann's functions: widths and places (in 1e-4).
template <std::size_t size>
struct Hartmann {
  std::array<std::array<double, size>, 4> width;
  std::array<std::array<double, size>, 4> place;

  double operator()(const Vector& x) const {
    constexpr std::array height{1.0, 1.2, 3.0, 3.2};
    double sum = 0;
    for (std::size_t peak = 0; peak < 4; ++peak) {
      double distance = 0;
      for (std::size_t i = 0; i < size; ++i)
        distance += width[peak][i] * square(x[i] - 1e-4 * place[peak][i]);
      sum += height[peak] * std::exp(-distance);
    }
    return -sum;
  }
};

constexpr Hartmann<3> hartmann_3{
    .width = {{{3, 10, 30}, {.1, 10, 35}, {3, 10, 30}, {.1, 10, 35}}},
    .place = {{{3689, 1170, 2673}, {4699, 4387, 7470}, {1091, 8732, 5547}, {381, 5743, 8828}}}};

constexpr Hartmann<6> hartmann_6{.width = {{{10, 3, 17, 3.5, 1.7, 8},
                                            {.05, 10, 17, .1, 8, 14},
                                            {3, 3.5, 1.7, 10, 17, 8},
                                            {17, 8, .05, 10, .1, 14}}},
                                 .place = {{{1312, 1696, 5569, 124, 8283, 5886},
                                            {2329, 4135, 8307, 3736, 1004, 9991},
                                            {2348, 1451, 3522, 2883, 3047, 6650},
                                            {4047, 8828, 8732, 5743, 1091, 381}}}};

double shekel(const Vector& x) {
  constexpr std::array width{1., 2., 2., 4., 4., 6., 3., 7., 5., 5.};
  // The third and fourth coordinates of the minima repeat the first two.
  constexpr std::array<std::array<double, 10>, 2> centre{
      {{4, 1, 8, 6, 3, 2, 5, 8, 6, 7}, {4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6}}};
  double sum = 0;
  for (std::size_t i = 0; i < width.size(); ++i) {
    double distance = 0;
    for (std::size_t k = 0; k < 4; ++k)
      distance += square(x[k] - centre[k % 2][i]);
    sum += 1 / (distance + .1 * width[i]);
  }
  return -sum;
}

double levy(const Vector& x) {
  const auto w = [&](std::size_t i) { return 1 + (x[i] - 1) / 4; };
  const std::size_t last = x.size() - 1;
  double sum = 0;
  for (std::size_t i = 0; i < last; ++i)
    sum += square(w(i) - 1) * (1 + 10 * square(std::sin(pi * w(i) + 1)));
  return square(std::sin(pi * w(0))) + sum +
         square(w(last) - 1) * (1 + square(std::sin(2 * pi * w(last))));
}

double styblinski(const Vector& x) {
  double sum = 0;
  for (const double v : x)
    sum += square(square(v)) - 16 * square(v) + 5 * v;
  return .5 * sum;
}

double rosenbrock(const Vector& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    sum += 100 * square(x[i + 1] - square(x[i])) + square(1 - x[i]);
  return sum;
}

double ackley(const Vector& z) {
  double squares = 0, cosines = 0;
  for (const double v : z) {
    squares += v * v;
    cosines += std::cos(2 * pi * v);
  }
  const auto size = static_cast<double>(z.size());
  return -20 * std::exp(-.2 * std::sqrt(squares / size)) - std::exp(cosines / size) + 20 +
         std::numbers::e;
}

double rastrigin(const Vector& z) {
  double sum = 0;
  for (const double v : z)
    sum += v * v - 10 * std::cos(2 * pi * v) + 10;
  return sum;
}

double sphere(const Vector& z) {
  double sum = 0;
  for (const double v : z)
    sum += v * v;
  return sum;
}

/// A function of the distance to a made-up optimum.
template <class Function>
auto shifted(std::uint64_t seed, std::size_t size, double reach, Function function) {
  return of_vector(size, [optimum = SplitMix(seed).vector(size, -reach, reach),
                          function](const Vector& x) { return function(difference(x, optimum)); });
}

std::vector<TestFunction> make_suite() {
  constexpr double hartmann_optimum = -3.322368011415515;
  std::vector<TestFunction> all{
      {"branin2",
       {{"x0", tune::uniform(-5, 10)}, {"x1", tune::uniform(0, 15)}},
       of_vector(2, branin),
       0.39788735772973816,
       0,
       35.4},
      {"camel2",
       {{"x0", tune::uniform(-3, 3)}, {"x1", tune::uniform(-2, 2)}},
       of_vector(2, camel),
       -1.0316284534898774,
       0,
       9.51},
      {"hartmann3", box(3, 0, 1), of_vector(3, hartmann_3), -3.8627797869493365, 0, 3.31},
      {"hartmann6", box(6, 0, 1), of_vector(6, hartmann_6), hartmann_optimum, 0, 3.22},
      {"shekel4", box(4, 0, 10), of_vector(4, shekel), -10.536443153483534, 0, 10.3},
      {"levy5", box(5, -10, 10), of_vector(5, levy), 0, 0, 50.3},
      {"levy10", box(10, -10, 10), of_vector(10, levy), 0, 0, 115},
      {"styblinski5", box(5, -5, 5), of_vector(5, styblinski), -39.16616570377141 * 5, 0, 162},
      {"rosenbrock5", box(5, -5, 10), of_vector(5, rosenbrock), 0, 0, 4.2e5},
      {"ackley5s", box(5, -32.768, 32.768), shifted(101, 5, 16, ackley), 0, 0, 21.3},
      {"rastrigin5s", box(5, -5, 5), shifted(102, 5, 4, rastrigin), 0, 0, 103},
      {"sphere10s", box(10, -5, 5), shifted(103, 10, 4, sphere), 0, 0, 125}};
  for (auto* make : {ellipsoid5r, rosenbrock5r, rastrigin5r, schaffers5r, gallagher5r, mixed6,
                     intquad6, cat8, cond})
    all.push_back(make());
  all.push_back(
      {"hartmann6n", box(6, 0, 1), of_vector(6, hartmann_6), hartmann_optimum, 0.2, 3.22});
  all.push_back({"levy5n", box(5, -10, 10), of_vector(5, levy), 0, 2.0, 50.3});
  return all;
}

}  // namespace

const std::vector<TestFunction>& suite() {
  static const std::vector<TestFunction> all = make_suite();
  return all;
}

const TestFunction& test_function(std::string_view name) {
  std::string names;
  for (const TestFunction& function : suite()) {
    if (function.name == name)
      return function;
    names += (names.empty() ? "" : ", ") + function.name;
  }
  for (const TestFunction& function : task_functions()) {
    if (function.name == name)
      return function;
    names += ", " + function.name;
  }
  throw Exception(ErrorCode::not_found,
                  "no test function '" + std::string(name) + "'; there are " + names);
}

}  // namespace troupe::bench
