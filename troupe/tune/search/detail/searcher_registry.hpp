#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <memory>
#include <string>

namespace troupe::tune::detail {

using SearcherMaker = Result<std::unique_ptr<Searcher>> (*)(const Value& options);

/// One more name for `make_searcher`, from a library that not every program links. To be called
/// while a program starts, before there are threads; returns true.
bool add_searcher(const std::string& name, SearcherMaker make);

}  // namespace troupe::tune::detail
