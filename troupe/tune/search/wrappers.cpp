#include <troupe/tune/search/detail/guarded.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/wrappers.hpp>
#include <troupe/tune/search/wrappers.hpp>

#include <string>
#include <utility>

namespace troupe::tune {
namespace {

Value description(const Searcher& searcher) {
  return Map{{"name", searcher.name()}, {"options", searcher.options()}};
}

/// The searcher that `value` describes; random search when there is none.
Result<std::unique_ptr<Searcher>> inner(const std::string& wrapper, const std::string& key,
                                        const Value* value) {
  if (value == nullptr)
    return make_searcher("random", {});
  const Map* map = value->get_if<Map>();
  const Value* name = map != nullptr ? map->find_key("name") : nullptr;
  const Value* inside = map != nullptr ? map->find_key("options") : nullptr;
  if (name == nullptr || !name->is_string())
    return Error(ErrorCode::invalid_argument,
                 "the searcher " + wrapper + ", option " + key +
                     ": it must be a map with the name and the options of a searcher");
  return make_searcher(name->as_string(), inside != nullptr ? *inside : Value());
}

/// What a wrapper is told, but for the searchers inside.
struct Limit {
  const Value* searcher = nullptr;
  ConcurrencyLimit limit{.max_concurrent = UINT32_MAX};
};

struct Repeats {
  const Value* searcher = nullptr;
  std::uint32_t repeats = 1;
};

struct Switch {
  const Value* first = nullptr;
  const Value* second = nullptr;
  std::uint64_t trials = 1;
};

Result<Limit> read_limit(const Value& options) {
  Limit read;
  detail::OptionReader reader("concurrency_limiter", options);
  read.searcher = reader.take("searcher");
  reader.read("max_concurrent", read.limit.max_concurrent, 1, UINT32_MAX);
  reader.read("batch", read.limit.batch);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return read;
}

Result<Repeats> read_repeats(const Value& options) {
  Repeats read;
  detail::OptionReader reader("repeater", options);
  read.searcher = reader.take("searcher");
  reader.read("repeats", read.repeats, 1, UINT32_MAX);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return read;
}

Result<Switch> read_switch(const Value& options) {
  Switch read;
  detail::OptionReader reader("switch_searcher", options);
  read.first = reader.take("first");
  read.second = reader.take("second");
  reader.read("trials", read.trials, 0, UINT32_MAX);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return read;
}

/// A copy of a searcher that a wrapper was given, which is named where it fails.
std::unique_ptr<Searcher> copy_of(const std::shared_ptr<Searcher>& searcher, const char* wrapper) {
  if (searcher == nullptr)
    throw Exception(ErrorCode::invalid_argument,
                    std::string(wrapper) + ": a searcher to wrap is null; pass one such as tpe()");
  return detail::guarded(*searcher).value_or_throw();
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
  return Map{{"first", description(*first_)},
             {"second", description(*second_)},
             {"trials", option_count(trials_)}};
}

Status detail::ConcurrencyLimiter::check_options() const {
  TROUPE_RETURN_IF_ERROR(read_limit(options()));
  return ok();
}

Status detail::Repeater::check_options() const {
  TROUPE_RETURN_IF_ERROR(read_repeats(options()));
  return ok();
}

Status detail::SwitchSearcher::check_options() const {
  TROUPE_RETURN_IF_ERROR(read_switch(options()));
  return ok();
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
  using Made = std::unique_ptr<Searcher>;
  if (name == "switch_searcher") {
    TROUPE_TRY(read, read_switch(options));
    TROUPE_TRY(first, inner(name, "first", read.first));
    TROUPE_TRY(second, inner(name, "second", read.second));
    return Made(
        std::make_unique<detail::SwitchSearcher>(std::move(first), std::move(second), read.trials));
  }
  if (name == "repeater") {
    TROUPE_TRY(read, read_repeats(options));
    TROUPE_TRY(searcher, inner(name, "searcher", read.searcher));
    return Made(std::make_unique<detail::Repeater>(std::move(searcher), read.repeats));
  }
  TROUPE_TRY(read, read_limit(options));
  TROUPE_TRY(searcher, inner(name, "searcher", read.searcher));
  return Made(std::make_unique<detail::ConcurrencyLimiter>(std::move(searcher), read.limit));
}

}  // namespace troupe::tune
