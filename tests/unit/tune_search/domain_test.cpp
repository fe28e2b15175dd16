#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/domain.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

std::string error_of(const Domain& domain) {
  const Status status = domain.check();
  return status ? "" : status.error().message();
}

TEST_CASE("the last value of a stepped range is reached, to the last bit") {
  CHECK(quniform(0.8, 1.0, 0.1).last_index() == 2);
  CHECK(quniform(0.8, 1.0, 0.1).contains(Value(1.0)));
  Random random(3, 0, RandomPurpose::test);
  for (int i = 0; i < 2000; ++i) {
    const double low = random.uniform(-100, 100);
    const double step = std::exp(random.uniform(-10, 5));
    const auto steps = static_cast<std::uint64_t>(random.uniform_int(1, 5000));
    const Domain domain = quniform(low, low + static_cast<double>(steps) * step, step);
    REQUIRE(error_of(domain) == "");
    REQUIRE(domain.last_index() == steps);
    const std::uint64_t j = random.below(steps + 1);
    CHECK(domain.at(j) == Value(low + static_cast<double>(j) * step));
    CHECK(domain.contains(domain.at(j)));
    CHECK(domain.contains(domain.sample(random)));
  }
}

TEST_CASE("an upper bound on the grid is the last value itself, whichever way rounding goes") {
  // 0.1 + 2 * 0.1 is more than 0.3 in binary, and 0.8 + 1 * 0.1 is exact.
  CHECK(quniform(0.1, 0.3, 0.1).at(2) == Value(0.3));
  CHECK(quniform(0.1, 0.3, 0.1).contains(Value(0.3)));
  CHECK(!quniform(0.1, 0.3, 0.1).contains(Value(0.1 + 2 * 0.1)));
  CHECK(quniform(0, 1, 0.1).at(3) == Value(3 * 0.1));
  for (int tenths = 1; tenths < 2000; ++tenths) {
    const double high = tenths / 10.0;
    const Domain domain = quniform(0, high, 0.1);
    REQUIRE(domain.last_index() == static_cast<std::uint64_t>(tenths));
    CHECK(domain.at(static_cast<std::uint64_t>(tenths)) == Value(high));
    CHECK(domain.at(static_cast<std::uint64_t>(tenths) - 1).as_double() < high);
    CHECK(detail::Axis("x", domain).encode(Value(high)) == detail::Axis("x", domain).snap(1));
  }
}

TEST_CASE("a range of real numbers whose ends are equal is that number") {
  Random random(3, 0, RandomPurpose::test);
  for (const Domain& domain : {uniform(0.7, 0.7), loguniform(0.7, 0.7), uniform(-2.5, -2.5)}) {
    REQUIRE(error_of(domain) == "");
    CHECK(domain.last_index() == 0);
    CHECK(domain.contains(domain.at(0)));
    CHECK(domain.sample(random) == domain.at(0));
    CHECK(!domain.contains(Value(0.71)));
    CHECK(Domain::from_value(domain.to_value()).value_or_throw() == domain);
    CHECK(detail::Design({{"x", domain}}).size() == 0);
  }
  CHECK(error_of(uniform(2, 1)).find("above the upper one") != std::string::npos);
  CHECK(error_of(loguniform(2, 1)).find("above the upper one") != std::string::npos);
  CHECK(error_of(loguniform(0, 0)).find("above 0") != std::string::npos);
}

TEST_CASE("a bound that is not on the grid is cut to the last value before it") {
  CHECK(quniform(0, 1, 0.4).last_index() == 2);
  CHECK(!quniform(0, 1, 0.4).contains(Value(1.0)));
  CHECK(qrandint(0, 10, 4).last_index() == 2);
  CHECK(!qrandint(0, 10, 4).contains(Value(10)));
  CHECK(qrandint(0, 8, 4).contains(Value(8)));
}

TEST_CASE("draws of a stepped range are uniform, even at a grid of even length") {
  Random random(5, 0, RandomPurpose::test);
  const Domain domain = quniform(0, 0.9, 0.1);
  std::vector<int> counts(10);
  const int draws = 20'000;
  for (int i = 0; i < draws; ++i)
    ++counts[static_cast<std::size_t>(std::floor(domain.sample(random).as_double() * 10 + 0.5))];
  double chi2 = 0;
  for (const int count : counts)
    chi2 += std::pow(count - draws / 10, 2) / (draws / 10);
  CHECK(chi2 < 27.9);  // p > 1e-3 with 9 degrees of freedom
}

TEST_CASE("integers of any 64-bit range are drawn inside of it") {
  Random random(7, 0, RandomPurpose::test);
  for (const Domain& domain :
       {qrandint(INT64_MIN, INT64_MAX, 1), randint(0, std::int64_t{1} << 62),
        lograndint(1, INT64_MAX), Domain(RandInt{1, INT64_MAX, 1, true}),
        Domain(RandInt{INT64_MAX - 1, INT64_MAX, 1, true}), lograndint(1, 2),
        qrandint(INT64_MIN, INT64_MAX, INT64_MAX), randint(INT64_MAX - 1, INT64_MAX)}) {
    REQUIRE(error_of(domain) == "");
    const detail::Axis axis("x", domain);
    for (int i = 0; i < 1000; ++i) {
      CHECK(domain.contains(domain.sample(random)));
      CHECK(domain.contains(axis.decode(random.uniform())));
    }
    CHECK(domain.contains(axis.decode(0.0)));
    CHECK(domain.contains(axis.decode(1.0)));
  }
}

TEST_CASE("logarithmic integers are drawn with the share of their part of the line") {
  Random random(9, 0, RandomPurpose::test);
  const Domain domain = lograndint(1, 1025);
  int ones = 0;
  const int draws = 20'000;
  for (int i = 0; i < draws; ++i)
    ones += domain.sample(random) == Value(1);
  const double share = std::log(1.5 / 0.5) / std::log(1024.5 / 0.5);
  CHECK(std::abs(static_cast<double>(ones) / draws - share) < 0.01);
}

TEST_CASE("extreme logarithmic ranges stay inside") {
  Random random(11, 0, RandomPurpose::test);
  const Domain domain = loguniform(1e-300, 1e300);
  const detail::Axis axis("x", domain);
  for (int i = 0; i < 1000; ++i) {
    CHECK(domain.contains(domain.sample(random)));
    CHECK(domain.contains(axis.decode(random.uniform())));
  }
  CHECK(domain.contains(axis.decode(0)));
  CHECK(domain.contains(axis.decode(1)));
}

TEST_CASE("steps and logarithms that make no sense are refused with the remedy") {
  CHECK(error_of(quniform(0, 1, 0)).find("above 0") != std::string::npos);
  CHECK(error_of(quniform(0, 1, -1)).find("above 0") != std::string::npos);
  CHECK(error_of(quniform(2, 1, 0.1)).find("must not be above") != std::string::npos);
  CHECK(error_of(quniform(0, 1, 1e-17)).find("2^53") != std::string::npos);
  // A fraction of the distance of neighbouring doubles there.
  CHECK(error_of(quniform(-560.449840015928, -560.4498400159274, 1.0266063738391816e-13))
            .find("too small for numbers of that size") != std::string::npos);
  CHECK(error_of(qrandint(0, 4, 0)).find("at least 1") != std::string::npos);
  CHECK(error_of(lograndint(0, 4)).find("at least 1") != std::string::npos);
  CHECK(error_of(randint(INT64_MIN, INT64_MIN)).find("no whole number") != std::string::npos);
}

TEST_CASE("a value that comes twice is refused, where another type is another value") {
  for (const auto make : {choice, grid_search}) {
    CHECK(make({1, 1.0, true, "1", Value(), List{1}, List{1.0}, Map{}}).check().has_value());
    for (const Value& twice : {Value(1), Value(1.0), Value(true), Value("1"), Value(),
                               Value(std::nan("")), Value(List{1, "a"}), Value(Map{{"k", 2}})}) {
      const Status status = make({twice, "other", twice}).check();
      REQUIRE(!status);
      CHECK(status.error().code() == ErrorCode::invalid_argument);
      CHECK(status.error().message().find("the value " + to_json(twice) + " comes twice") !=
            std::string::npos);
    }
  }
}

TEST_CASE("every kind of domain reads back from its data and shows itself as it is written") {
  for (const Domain& domain :
       {uniform(-1, 1), quniform(0, 1, 0.25), loguniform(1e-3, 1), randint(-3, 9),
        qrandint(0, 100, 5), qrandint(INT64_MIN, INT64_MAX, 1), lograndint(2, 64),
        Domain(RandInt{1, INT64_MAX, 1, true}), choice({1, 1.0, true, "1", nullptr, List{1}}),
        grid_search({1, 2})})
    CHECK(Domain::from_value(domain.to_value()).value_or_throw() == domain);
  CHECK(lograndint(2, 64).to_string() == "lograndint(2, 64)");
  CHECK(Domain(RandInt{1, INT64_MAX, 1, true}).to_string() == "lograndint(1, 2^63)");
  CHECK(quniform(0, 1, 0.25).to_string() == "quniform(0, 1, 0.25)");
  CHECK(qrandint(0, 100, 5).to_string() == "qrandint(0, 100, 5)");
}

std::string refusal(const Domain& domain, const Value& given) {
  const auto adopted = domain.adopt(given);
  return adopted ? "" : adopted.error().message();
}

TEST_CASE("values that are given are taken in the form of the domain") {
  CHECK(uniform(0, 10).adopt(3).value_or_throw() == Value(3.0));
  CHECK(uniform(0, 10).adopt(10).value_or_throw() == Value(std::nextafter(10.0, 0.0)));
  CHECK(uniform(2, 2).adopt(2).value_or_throw() == Value(2.0));
  CHECK(loguniform(1, 8).adopt(8.0).value_or_throw() == Value(std::nextafter(8.0, 0.0)));
  for (int j = 0; j <= 10; ++j)
    CHECK(quniform(0, 1, 0.1).adopt(j / 10.0).value_or_throw() == Value(j == 10 ? 1 : j * 0.1));
  CHECK(quniform(1e6, 1e6 + 1, 1e-4).adopt(1'000'000.0003).value_or_throw() ==
        Value(1e6 + 3 * 1e-4));
  CHECK(randint(0, 5).adopt(3).value_or_throw() == Value(3));
  CHECK(choice({1, 1.0}).adopt(1).value_or_throw() == Value(1));
}

TEST_CASE("what means no value of the domain is refused with the reason") {
  CHECK(refusal(uniform(0, 10), 30) == "it does not lie in uniform(0, 10)");
  CHECK(refusal(uniform(0, 10), std::nan("")).find("does not lie") != std::string::npos);
  CHECK(refusal(uniform(0, 10), "3").find("a number is wanted") != std::string::npos);
  CHECK(refusal(quniform(0, 1, 0.1), 0.32).find("the nearest one is 0.3") != std::string::npos);
  CHECK(refusal(quniform(0, 1, 0.1), 1.1).find("does not lie") != std::string::npos);
  CHECK(refusal(randint(0, 10), 10).find("the upper end is not included") != std::string::npos);
  CHECK(refusal(randint(0, 10), 3.0).find("write 1, not 1.0") != std::string::npos);
  CHECK(refusal(qrandint(0, 10, 5), 4).find("no step of it") != std::string::npos);
  CHECK(refusal(choice({1}), 1.0).find("types count") != std::string::npos);
}

}  // namespace
}  // namespace troupe::tune
