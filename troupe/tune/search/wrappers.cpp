#include <troupe/tune/search/detail/wrappers.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tune {
namespace {

Value description(const Searcher& searcher) {
  return Map{{"name", searcher.name()}, {"options", searcher.options()}};
}

Error wrong(const std::string& wrapper, const std::string& what) {
  return Error(ErrorCode::invalid_argument, "the searcher " + wrapper + ": " + what);
}

/// The searcher under `key`; random search when there is none.
Result<std::unique_ptr<Searcher>> inner(const std::string& wrapper, const Map& options,
                                        const std::string& key) {
  const Value* value = options.find_key(key);
  if (value == nullptr)
    return make_searcher("random", {});
  const Map* map = value->get_if<Map>();
  const Value* name = map != nullptr ? map->find_key("name") : nullptr;
  const Value* inside = map != nullptr ? map->find_key("options") : nullptr;
  if (name == nullptr || !name->is_string())
    return wrong(wrapper, key + " is to be a map with the name and the options of a searcher");
  return make_searcher(name->as_string(), inside != nullptr ? *inside : Value());
}

/// A whole number >= `least` under `key`; 1 when there is none.
Result<std::uint64_t> number(const std::string& wrapper, const Map& options, const std::string& key,
                             std::int64_t least) {
  const Value* value = options.find_key(key);
  if (value == nullptr)
    return std::uint64_t{1};
  if (!value->is_int() || value->as_int() < least || value->as_int() > std::int64_t{UINT32_MAX})
    return wrong(wrapper,
                 key + " is to be a whole number from " + std::to_string(least) + " to 4294967295");
  return static_cast<std::uint64_t>(value->as_int());
}

Status check_names(const std::string& wrapper, const Map& options,
                   const std::vector<std::string>& known) {
  for (const auto& [key, value] : options)
    if (std::find(known.begin(), known.end(), key) == known.end())
      return wrong(wrapper, "there is no option '" + key + "'");
  return ok();
}

/// A copy of a searcher that a wrapper was given.
std::unique_ptr<Searcher> copy_of(const std::shared_ptr<Searcher>& searcher, const char* wrapper) {
  if (searcher == nullptr)
    throw Exception(ErrorCode::invalid_argument,
                    std::string(wrapper) + ": a searcher to wrap is null; pass one such as tpe()");
  return searcher->clone();
}

}  // namespace

Value detail::ConcurrencyLimiter::options() const {
  return Map{{"searcher", description(*searcher_)},
             {"max_concurrent", limit_.max_concurrent},
             {"batch", limit_.batch}};
}

Value detail::Repeater::options() const {
  return Map{{"searcher", description(*searcher_)}, {"repeats", repeats_}};
}

Value detail::SwitchSearcher::options() const {
  return Map{
      {"first", description(*first_)}, {"second", description(*second_)}, {"trials", trials_}};
}

std::shared_ptr<Searcher> concurrency_limiter(std::shared_ptr<Searcher> searcher,
                                              ConcurrencyLimit limit) {
  return std::make_shared<detail::ConcurrencyLimiter>(copy_of(searcher, "concurrency_limiter"),
                                                      limit);
}

std::shared_ptr<Searcher> repeater(std::shared_ptr<Searcher> searcher, std::uint32_t repeats) {
  return std::make_shared<detail::Repeater>(copy_of(searcher, "repeater"), repeats);
}

std::shared_ptr<Searcher> switch_searcher(std::shared_ptr<Searcher> first,
                                          std::shared_ptr<Searcher> second, std::uint64_t trials) {
  return std::make_shared<detail::SwitchSearcher>(copy_of(first, "switch_searcher"),
                                                  copy_of(second, "switch_searcher"), trials);
}

Result<std::unique_ptr<Searcher>> make_wrapper(const std::string& name, const Value& options) {
  if (!options.is_null() && !options.is_map())
    return wrong(name, "its options are to be a map");
  const Map map = options.is_map() ? options.as_map() : Map();
  if (name == "switch_searcher") {
    TROUPE_RETURN_IF_ERROR(check_names(name, map, {"first", "second", "trials"}));
    TROUPE_TRY(first, inner(name, map, "first"));
    TROUPE_TRY(second, inner(name, map, "second"));
    TROUPE_TRY(trials, number(name, map, "trials", 0));
    return std::unique_ptr<Searcher>(
        std::make_unique<detail::SwitchSearcher>(std::move(first), std::move(second), trials));
  }
  TROUPE_TRY(searcher, inner(name, map, "searcher"));
  if (name == "repeater") {
    TROUPE_RETURN_IF_ERROR(check_names(name, map, {"searcher", "repeats"}));
    TROUPE_TRY(repeats, number(name, map, "repeats", 1));
    return std::unique_ptr<Searcher>(std::make_unique<detail::Repeater>(
        std::move(searcher), static_cast<std::uint32_t>(repeats)));
  }
  TROUPE_RETURN_IF_ERROR(check_names(name, map, {"searcher", "max_concurrent", "batch"}));
  ConcurrencyLimit limit;
  const Value* batch = map.find_key("batch");
  if (batch != nullptr && !batch->is_bool())
    return wrong(name, "batch is to be true or false");
  limit.batch = batch != nullptr && batch->as_bool();
  const bool limited = map.contains("max_concurrent");
  TROUPE_TRY(most, number(name, map, "max_concurrent", 1));
  limit.max_concurrent = limited ? static_cast<std::uint32_t>(most) : UINT32_MAX;
  return std::unique_ptr<Searcher>(
      std::make_unique<detail::ConcurrencyLimiter>(std::move(searcher), limit));
}

}  // namespace troupe::tune
