#include <troupe/tune/search/searcher_suite.hpp>

#include <string>

#include <doctest/doctest.h>
#include <tests/support/instrumented.hpp>

#include "subjects.hpp"

// Each of Troupe's searchers where searchers break.

namespace troupe::tune {
namespace {

/// What a searcher needs to be through in seconds.
SearcherSuiteOptions options_for(const Subject& subject, const HardSearch& hard) {
  SearcherSuiteOptions options = hard.options;
  options.may_repeat =
      options.may_repeat || subject.repeats || draws_blindly(*subject.searcher, hard.context);
  options.look_every *= testing::fewer;
  if (hard.name == "1,000 choices")
    options.steps /= testing::fewer;
  if (hard.name != "10,000 trials")
    return options;
  if (subject.limited)
    options.steps = 60'000;  // not each time that a trial might begin it may
  // The Gaussian process sees 400 of them and takes a tenth of a second.
  options.foreign = subject.name == "gp" ? 0.999 : testing::instrumented ? 0.95 : 0;
  return options;
}

/// The hard searches that a searcher says it does not serve, one a line.
std::string not_for(const Subject& subject) {
  if (subject.finite_only)
    return "every result is the same\none real number\none logarithm\n"
           "ranges as wide as numbers go\n1,000 choices\ntwo objectives\n64 workers\n";
  if (subject.numbers_only)
    return "every result is the same\none choice\nvalues of every type\n1,000 choices\n"
           "two objectives\n64 workers\n";
  return subject.one_objective ? "two objectives\n" : "";
}

TEST_CASE("every searcher keeps the contract where searchers break") {
  const auto hard_ones = hard_searches();
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.name);
    std::string refused;
    for (const HardSearch& hard : hard_ones) {
      CAPTURE(hard.name);
      if (const Status status = subject.searcher->clone()->setup(hard.context); !status) {
        CHECK(status.error().code() == ErrorCode::invalid_argument);
        refused += hard.name + '\n';
        continue;
      }
      CHECK(check_searcher(*subject.searcher, hard.context, options_for(subject, hard)) ==
            std::vector<std::string>{});
    }
    CHECK(refused == not_for(subject));
  }
}

}  // namespace
}  // namespace troupe::tune
