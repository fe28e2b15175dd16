#include <troupe/tune/search/lipo.hpp>

namespace troupe::bench {
namespace {

/// Makes the name "lipo" known to `make_searcher`.
const auto known = tune::lipo();

}  // namespace
}  // namespace troupe::bench
