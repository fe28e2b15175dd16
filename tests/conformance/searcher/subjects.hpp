#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <memory>
#include <string>
#include <vector>

namespace troupe::tune {

/// A searcher that the tests of this folder are about.
struct Subject {
  std::string name;
  std::shared_ptr<const Searcher> searcher;
  bool repeats = false;        ///< a configuration may come twice
  bool finite_only = false;    ///< serves spaces with an end only
  bool numbers_only = false;   ///< serves spaces without choices only
  bool from_results = true;    ///< suggests according to results
  bool one_objective = false;  ///< serves no more
  bool wrapper = false;        ///< around one of the others
  bool slow = false;           ///< needs many milliseconds for a suggestion
  bool limited = false;        ///< lets only a few trials run at a time
};

/// Does it serve this space? Whether it should is another question.
inline bool serves(const Subject& subject, const SearchContext& context) {
  return subject.searcher->clone()->setup(context).has_value();
}

/// Every name of `searcher_names()` with its default options, and each wrapper around one of them.
std::vector<Subject> subjects();

/// `auto_searcher` hands some spaces to basic_variant, which may draw a configuration twice.
bool draws_blindly(const Searcher& searcher, const SearchContext& context);

}  // namespace troupe::tune
