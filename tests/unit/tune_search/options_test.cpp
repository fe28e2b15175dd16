#include <troupe/base/detail/json_text.hpp>
#include <troupe/tune/search/bohb.hpp>
#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// What every searcher and every wrapper makes of options that make no sense.

namespace troupe::tune {
namespace {

using Made = std::shared_ptr<Searcher>;

const SearchContext context{.space = {{"x", randint(0, 100)}}, .objectives = {{"loss", Mode::min}}};

/// Every searcher that has options, as `make_searcher` makes it of none.
std::vector<std::unique_ptr<Searcher>> all_with_options() {
  std::vector<std::string> names = searcher_names();
  names.insert(names.end(), {"concurrency_limiter", "repeater", "switch_searcher"});
  std::vector<std::unique_ptr<Searcher>> all;
  for (const std::string& name : names)
    if (auto made = make_searcher(name, {}).value_or_throw(); made->options().is_map())
      all.push_back(std::move(made));
  return all;
}

/// Is it one clear error: which searcher, which option, and what is right instead?
bool refuses(const Status& status, const std::string& searcher, const std::string& option) {
  if (status)
    return false;
  const std::string& message = status.error().message();
  CAPTURE(message);
  CHECK(message.find("it must be") != std::string::npos);
  return status.error().code() == ErrorCode::invalid_argument &&
         message.find("the searcher " + searcher + ", option " + option) == 0;
}

TEST_CASE("a searcher of the user that a restore asks for says where to pass it") {
  const auto made = make_searcher("mine", {});
  REQUIRE(!made);
  CHECK(made.error().code() == ErrorCode::not_found);
  const std::string& message = made.error().message();
  for (const char* part : {"'mine'", "tpe", "RestoreOptions.search_alg"})
    CHECK_MESSAGE(message.find(part) != std::string::npos, part);
}

TEST_CASE("a long value is shown without its end, and no character is cut") {
  std::string euros;
  for (int i = 0; i < 100; ++i)
    euros += "\xE2\x82\xAC";
  for (const char* before : {"", "-", "--"}) {
    const auto made = make_searcher("tpe", Map{{"model", before + euros}});
    REQUIRE(!made);
    const std::string& message = made.error().message();
    CHECK(troupe::detail::is_valid_utf8(message));
    CHECK(message.find("\xE2\x82\xAC...: it must be one of") != std::string::npos);
  }
}

TEST_CASE("an option of another type, or that no option can have, is refused wherever it stands") {
  const Value never[] = {Value(),   -1,     INT64_MIN, std::nan(""),  HUGE_VAL,
                         -HUGE_VAL, -1e300, "no such", List{1, 2, 3}, Map{{"a", 1}}};
  for (const auto& searcher : all_with_options()) {
    const Value usual = searcher->options();
    for (const std::string& option : usual.as_map().keys())
      for (const Value& wrong : never) {
        CAPTURE(option);
        CAPTURE(wrong);
        Map options = usual.as_map();
        options[option] = wrong;
        const auto made = make_searcher(searcher->name(), options);
        REQUIRE(!made);
        CHECK(refuses(made.error(), searcher->name(), option));
      }
  }
}

TEST_CASE("an option that there is not is refused, with what was meant") {
  for (const auto& searcher : all_with_options()) {
    Map options = searcher->options().as_map();
    const std::string known = options.begin()->first;
    options[known + "s"] = 1;
    const auto made = make_searcher(searcher->name(), options);
    REQUIRE(!made);
    CHECK(made.error().message().find("has no option '" + known + "s'") != std::string::npos);
    CHECK(made.error().message().find("did you mean '" + known + "'") != std::string::npos);
  }
}

TEST_CASE("what a searcher says of its options makes the same searcher") {
  for (const auto& searcher : all_with_options())
    CHECK(make_searcher(searcher->name(), searcher->options()).value_or_throw()->options() ==
          searcher->options());
}

/// Options in code: a member gets values that are wrong, and `setup` must say so.
class Tried {
public:
  template <class Options, class T>
  void out_of_range(Made (*make)(Options), const char* option, T Options::*member,
                    const std::vector<std::type_identity_t<T>>& wrong) {
    for (const T value : wrong) {
      Options options;
      options.*member = value;
      refused(make(options), option);
    }
  }
  template <class Options, class T>
  requires std::is_enum_v<T>
  void no_such_value(Made (*make)(Options), const char* option, T Options::*member, T last) {
    out_of_range(make, option, member,
                 {static_cast<T>(static_cast<int>(last) + 1), static_cast<T>(255)});
  }
  template <class Options>
  void no_number(Made (*make)(Options), const char* option, double Options::*member,
                 std::vector<double> wrong) {
    wrong.insert(wrong.end(), {std::nan(""), HUGE_VAL, -HUGE_VAL, -1e-3, 1e300});
    out_of_range(make, option, member, wrong);
  }
  void refused(const Made& searcher, const char* option) {
    CAPTURE(searcher->name());
    CAPTURE(option);
    CHECK(searcher->options().is_map());  // it can be said, too
    CHECK(refuses(searcher->setup(context), searcher->name(), option));
    tried_[searcher->name()].insert(option);
  }
  /// Was every option tried that is neither a bool nor a searcher?
  void check_complete() const {
    for (const auto& searcher : all_with_options()) {
      const Value options = searcher->options();
      const auto found = tried_.find(searcher->name());
      REQUIRE_MESSAGE(found != tried_.end(), searcher->name());
      for (const auto& [option, usual] : options.as_map())
        CHECK_MESSAGE((usual.is_bool() || usual.is_map() || found->second.contains(option)),
                      searcher->name(), ", ", option);
    }
  }

private:
  std::map<std::string, std::set<std::string>> tried_;
};

void try_nsga(Tried& tried, Made (*make)(NsgaOptions)) {
  using O = NsgaOptions;
  tried.out_of_range(make, "population", &O::population, {0, 1, UINT32_MAX});
  tried.no_such_value(make, "crossover", &O::crossover, O::Crossover::undx);
  tried.no_number(make, "crossover_probability", &O::crossover_probability, {1.001});
  tried.no_number(make, "swap_probability", &O::swap_probability, {1.001});
  tried.no_such_value(make, "mutation", &O::mutation, O::Mutation::polynomial);
  tried.no_number(make, "mutation_probability", &O::mutation_probability, {1.001});
  tried.out_of_range(make, "divisions", &O::divisions, {0, UINT32_MAX});
}

void try_tpe(Tried& tried) {
  using O = TpeOptions;
  tried.out_of_range(tpe, "startup_trials", &O::startup_trials, {UINT32_MAX});
  tried.out_of_range(tpe, "candidates", &O::candidates, {0, 10'001, UINT32_MAX});
  tried.no_such_value(tpe, "model", &O::model, O::Model::independent);
  tried.no_number(tpe, "failure_weight", &O::failure_weight, {});
  tried.no_number(tpe, "prior_weight", &O::prior_weight, {0});
  tried.no_number(tpe, "good_fraction", &O::good_fraction, {0, 1.001});
  tried.out_of_range(tpe, "max_good", &O::max_good, {0, UINT32_MAX});
  tried.no_number(tpe, "sharpness", &O::sharpness, {0, 0.999});
}

void try_gp(Tried& tried) {
  using O = GpOptions;
  tried.out_of_range(gp, "startup_trials", &O::startup_trials, {0, 1, 100'001, UINT64_MAX});
  tried.no_such_value(gp, "warp", &O::warp, O::Warp::yeo_johnson);
  tried.out_of_range(gp, "fantasies", &O::fantasies, {0, 257, UINT64_MAX});
  tried.out_of_range(gp, "max_observations", &O::max_observations, {0, 49, 2001, UINT64_MAX});
}

void try_bohb(Tried& tried) {
  using O = BohbOptions;
  tried.out_of_range(bohb, "grace_period", &O::grace_period, {0, UINT64_MAX});
  tried.no_number(bohb, "reduction_factor", &O::reduction_factor, {0, 1});
  tried.no_number(bohb, "random_fraction", &O::random_fraction, {1.001});
  tried.no_number(bohb, "good_fraction", &O::good_fraction, {0, 1});
  tried.out_of_range(bohb, "min_points", &O::min_points, {UINT32_MAX});
  tried.out_of_range(bohb, "candidates", &O::candidates, {0, 10'001, UINT32_MAX});
  tried.no_number(bohb, "bandwidth_factor", &O::bandwidth_factor, {0});
  tried.no_number(bohb, "min_bandwidth", &O::min_bandwidth, {0, 1.001});
}

void try_cmaes(Tried& tried) {
  using O = CmaEsOptions;
  tried.no_such_value(cmaes, "restarts", &O::restarts, O::Restarts::bipop);
  tried.no_such_value(cmaes, "covariance", &O::covariance, O::Covariance::diagonal);
  tried.out_of_range(cmaes, "population", &O::population, {1, 10'001, UINT32_MAX});
  tried.no_number(cmaes, "sigma", &O::sigma, {0, 10.001});
}

TEST_CASE("options in code are checked when a search is set up, whatever their type") {
  Tried tried;
  try_bohb(tried);
  try_cmaes(tried);
  try_gp(tried);
  try_nsga(tried, nsga2);
  try_nsga(tried, nsga3);
  try_tpe(tried);
  tried.no_such_value(brute_force, "order", &BruteForceOptions::order,
                      BruteForceOptions::Order::lexicographic);
  tried.no_such_value(quasi_random, "sequence", &QuasiRandomOptions::sequence,
                      QuasiRandomOptions::Sequence::halton);
  tried.refused(concurrency_limiter(random_search(), {.max_concurrent = 0}), "max_concurrent");
  tried.refused(repeater(random_search(), 0), "repeats");
  for (const std::uint64_t trials : {std::uint64_t{UINT32_MAX} + 1, UINT64_MAX})
    tried.refused(switch_searcher(random_search(), tpe(), trials), "trials");
  tried.check_complete();
}

TEST_CASE("a wrapper finds what is wrong with the searcher in it") {
  const Made wrong = tpe({.candidates = 0});
  for (const Made& wrapper :
       {concurrency_limiter(wrong, {}), repeater(wrong, 2),
        switch_searcher(wrong, random_search(), 3), switch_searcher(random_search(), wrong, 3)})
    CHECK(refuses(wrapper->setup(context), "tpe", "candidates"));
}

}  // namespace
}  // namespace troupe::tune
