#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <cstdint>
#include <memory>

namespace troupe::tune {

/// Settings of `lipo`.
struct LipoOptions {
  /// How far results may be off, relative to their spread, 0 to 1.
  double noise = 0.001;
  /// Results that the models see, 20 to 2000: after so many they begin anew with the best and the
  /// newest of them, a quarter in all. A suggestion takes time with their number.
  std::uint64_t max_observations = 400;

  friend bool operator==(const LipoOptions&, const LipoOptions&) = default;
};

/// dlib's global_function_search: an upper bound by Lipschitz constants takes turns with a
/// quadratic model around the best point. For smooth functions of up to some ten numbers, of which
/// it finds the minimum to a millionth of the ranges in a hundred trials, and two trials are never
/// closer than that; not for functions like funnels with ripples. With many workers one refines,
/// and the others explore.
///
/// Numbers only, one objective. Failed and infeasible trials count like the worst one, stopped ones
/// not better than the best finished one. A suggestion takes some milliseconds (400 results,
/// 5 parameters), a result hardly anything; a restart repeats the calls since the models began
/// anew.
///
/// Sources: Malherbe and Vayatis, "Global optimization of Lipschitz functions" (ICML 2017); the
/// documentation of dlib, http://dlib.net/optimization.html.
///
/// In a library of its own, `troupe::tune_lipo`, which exists when dlib (libdlib-dev) was installed
/// as Troupe was configured, and defines TROUPE_HAS_LIPO for its users. A program that calls this
/// function knows the name "lipo" in `make_searcher`, too.
/// For `TuneConfig::search_alg`; name "lipo". `setup` says invalid_argument, naming the parameter,
/// for a space with choices.
std::shared_ptr<Searcher> lipo(LipoOptions options = {});

/// Options out of data, as `Searcher::options` gives them; those that are missing have their
/// default. invalid_argument for unknown ones and for values out of range.
Result<LipoOptions> lipo_options(const Value& options);

}  // namespace troupe::tune
