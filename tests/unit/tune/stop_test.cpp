#include <troupe/tune/stop/stop.hpp>

#include <limits>
#include <string>

#include <doctest/doctest.h>

namespace troupe::tune {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

std::string matched(const StopCriteria& stop, const Metrics& metrics) {
  const auto found = stop.match(metrics);
  if (!found)
    return "error: " + found.error().message();
  return *found ? (*found)->to_string() : "";
}

TEST_CASE("each comparison means what it says, and its text too") {
  CHECK(matched(metric("loss") <= 0.1, {{"loss", 0.1}}) == "loss <= 0.1");
  CHECK(matched(metric("loss") <= 0.1, {{"loss", 0.11}}) == "");
  CHECK(matched(metric("loss") < 0.1, {{"loss", 0.1}}) == "");
  CHECK(matched(metric("acc") > 0.5, {{"acc", 0.5}}) == "");
  CHECK(matched(metric("acc") >= 0.5, {{"acc", 0.5}}) == "acc >= 0.5");
  CHECK(matched(metric("acc") >= 1e-7, {{"acc", 1}}) == "acc >= 1e-07");
}

TEST_CASE("a large loss does not satisfy a bound from below by accident") {
  CHECK(matched(metric("loss") <= 0.1, {{"loss", 100.0}}) == "");
}

TEST_CASE("any of several criteria is enough, and the first one is told") {
  const StopCriteria stop{metric("loss") <= 0.1, max_iterations(3)};
  CHECK(matched(stop, {{"loss", 5}, {"training_iteration", 2}}) == "");
  CHECK(matched(stop, {{"loss", 5}, {"training_iteration", 3}}) == "training_iteration >= 3");
  CHECK(matched(stop, {{"loss", 0}, {"training_iteration", 3}}) == "loss <= 0.1");
}

TEST_CASE("NaN satisfies no criterion, infinities do") {
  CHECK(matched(metric("loss") <= 0.1, {{"loss", nan}}) == "");
  CHECK(matched(metric("loss") >= 0.1, {{"loss", nan}}) == "");
  CHECK(matched(metric("loss") >= 0.1, {{"loss", nullptr}}) == "");
  CHECK(matched(metric("loss") <= 0.1, {{"loss", -std::numeric_limits<double>::infinity()}}) ==
        "loss <= 0.1");
}

TEST_CASE("nested metrics are reached by their path") {
  CHECK(matched(metric("env/reward") >= 2, {{"env", Map{{"reward", 3}}}}) == "env/reward >= 2");
}

TEST_CASE("a metric that is missing or is no number is an error that helps") {
  const std::string missing = matched(metric("accuracy") >= 1, {{"acuracy", 0.5}});
  CHECK(missing.find("stop criterion 'accuracy >= 1'") != std::string::npos);
  CHECK(missing.find("did you mean 'acuracy'?") != std::string::npos);
  const std::string text = matched(metric("loss") >= 1, {{"loss", "low"}});
  CHECK(text.find("must be a number") != std::string::npos);
}

TEST_CASE("max_time counts training time") {
  CHECK(matched(max_time(std::chrono::minutes(1)), {{"time_total_s", 60.5}}) ==
        "time_total_s >= 60");
}

TEST_CASE("criteria that can never be right are refused") {
  CHECK(!StopCriteria(metric("loss") <= nan).check().has_value());
  CHECK(!StopCriteria(metric("") <= 1).check().has_value());
  CHECK(!StopCriteria(max_iterations(0)).check().has_value());
  CHECK(!StopCriteria(max_time(std::chrono::seconds(-1))).check().has_value());
  CHECK(!StopCriteria(metric("training_iteration") <= 5).check().has_value());
  CHECK(StopCriteria(max_iterations(1)).check().has_value());
  CHECK(StopCriteria().check().has_value());
}

}  // namespace
}  // namespace troupe::tune
