#include <troupe/tune/search/auto_searcher.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/bohb.hpp>
#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/searcher_registry.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/searcher.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

namespace troupe::tune {
namespace {

using Made = Result<std::unique_ptr<Searcher>>;

struct Row {
  std::string_view name;
  Made (*make)(const Value& options);
};

/// For searchers without options.
template <std::shared_ptr<Searcher> (*make)()>
Made plain(const Value& options) {
  const auto searcher = make();
  TROUPE_RETURN_IF_ERROR(detail::OptionReader(searcher->name(), options).finish());
  return searcher->clone();
}

Made make_bohb(const Value& options) {
  TROUPE_TRY(read, bohb_options(options));
  return bohb(read)->clone();
}

Made make_brute_force(const Value& options) {
  TROUPE_TRY(read, brute_force_options(options));
  return brute_force(read)->clone();
}

Made make_cmaes(const Value& options) {
  TROUPE_TRY(read, cmaes_options(options));
  return cmaes(read)->clone();
}

Made make_gp(const Value& options) {
  TROUPE_TRY(read, gp_options(options));
  return gp(read)->clone();
}

Made make_nsga2(const Value& options) {
  TROUPE_TRY(read, nsga_options("nsga2", options));
  return nsga2(read)->clone();
}

Made make_nsga3(const Value& options) {
  TROUPE_TRY(read, nsga_options("nsga3", options));
  return nsga3(read)->clone();
}

Made make_quasi_random(const Value& options) {
  TROUPE_TRY(read, quasi_random_options(options));
  return quasi_random(read)->clone();
}

Made make_tpe(const Value& options) {
  TROUPE_TRY(read, tpe_options(options));
  return tpe(read)->clone();
}

/// Around another searcher, which is among the options.
constexpr std::array wrappers = {std::string_view("concurrency_limiter"),
                                 std::string_view("repeater"), std::string_view("switch_searcher")};

/// Every searcher of Troupe that stands for itself, sorted by name.
constexpr std::array rows = {
    Row{"auto", plain<auto_searcher>},
    Row{"basic_variant", plain<basic_variant>},
    Row{"bohb", make_bohb},
    Row{"brute_force", make_brute_force},
    Row{"cmaes", make_cmaes},
    Row{"gp", make_gp},
    Row{"nsga2", make_nsga2},
    Row{"nsga3", make_nsga3},
    Row{"quasi_random", make_quasi_random},
    Row{"random", plain<random_search>},
    Row{"tpe", make_tpe},
};

/// Of other libraries.
std::map<std::string, detail::SearcherMaker>& others() {
  static std::map<std::string, detail::SearcherMaker> all;
  return all;
}

}  // namespace

bool detail::add_searcher(const std::string& name, SearcherMaker make) {
  others()[name] = make;
  return true;
}

std::vector<std::string> searcher_names() {
  std::vector<std::string> names;
  for (const Row& row : rows)
    names.emplace_back(row.name);
  for (const auto& [name, make] : others())
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name, const Value& options) {
  if (std::find(wrappers.begin(), wrappers.end(), name) != wrappers.end())
    return make_wrapper(name, options);
  for (const Row& row : rows)
    if (row.name == name)
      return row.make(options);
  if (const auto found = others().find(name); found != others().end())
    return found->second(options);
  if (name == "lipo")
    return Error(
        ErrorCode::not_found,
        "the searcher 'lipo' is not part of this program, which needs dlib for it: install "
        "libdlib-dev, configure and build Troupe again, link troupe::tune_lipo, and call "
        "tune::lipo()");
  std::string known;
  for (const std::string& other : searcher_names())
    known += (known.empty() ? "" : ", ") + other;
  return Error(ErrorCode::not_found, "the searcher '" + name + "' is not one of Troupe's own (" +
                                         known +
                                         "): pass the object that the experiment was made with, to "
                                         "Tuner::restore as RestoreOptions.search_alg");
}

}  // namespace troupe::tune
