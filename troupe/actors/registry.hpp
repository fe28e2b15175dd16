#pragma once

#include <troupe/actors/trainable.hpp>
#include <troupe/base/result.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Names of trainables. Code runs by registered name only, here and on every other host: nothing
/// that comes over a wire is ever executed.
namespace troupe {

/// The name of the metric that a number becomes which a function trainable returns.
inline constexpr std::string_view returned_number_metric = "_metric";

/// A function trainable: reports with `troupe::report`; what it returns is reported once more
/// unless it is empty.
using TrainableFunction = std::function<Metrics(const Config&)>;

/// What stands behind a name: exactly one of the two is set.
struct TrainableEntry {
  std::string name;
  std::function<std::unique_ptr<Trainable>()> create;
  TrainableFunction function;
  /// False: a class that is known not to override `save_checkpoint`.
  bool saves_checkpoints = true;

  bool is_function() const { return static_cast<bool>(function); }
};

/// Registers; a second registration of the same name throws `Exception` (already_exists).
/// Thread-safe. Registrations made before `main` (the macros) are what other processes see too.
void register_trainable(std::string name, std::function<std::unique_ptr<Trainable>()> create,
                        bool saves_checkpoints = true);
void register_trainable(std::string name, TrainableFunction function);

/// The entry, or not_found with close matches and the registered names.
Result<TrainableEntry> find_trainable(std::string_view name);

/// All names, sorted.
std::vector<std::string> trainable_names();

namespace detail {

/// Does `T` inherit the function that throws? An override that cannot be named here counts as one.
template <class T>
inline constexpr bool saves_checkpoints = !requires {
  requires std::is_same_v<decltype(&T::save_checkpoint), decltype(&Trainable::save_checkpoint)>;
};

struct Registration {
  Registration(const char* name, TrainableFunction function) {
    register_trainable(name, std::move(function));
  }
  template <class T>
  Registration(const char* name, std::type_identity<T>) {
    static_assert(std::is_convertible_v<T*, Trainable*>,
                  "TROUPE_TRAINABLE takes a class that is derived publicly from troupe::Trainable");
    static_assert(!std::is_abstract_v<T>,
                  "a trainable overrides `troupe::Metrics step() override`, and whatever else its "
                  "bases leave open");
    static_assert(std::is_abstract_v<T> || std::is_default_constructible_v<T>,
                  "a trainable has a constructor without arguments; setup(config) does the rest");
    register_trainable(
        name, [] { return std::unique_ptr<Trainable>(std::make_unique<T>()); },
        saves_checkpoints<T>);
  }
};

/// Adapts functions that return nothing, a number or metrics.
template <class F>
TrainableFunction adapt_function(F function) {
  static_assert(std::is_invocable_v<F, const Config&>,
                "TROUPE_TRAINABLE_FUNCTION takes a function of `const troupe::Config&`");
  return [function](const Config& config) -> Metrics {
    if constexpr (std::is_void_v<decltype(function(config))>) {
      function(config);
      return {};
    } else if constexpr (std::is_arithmetic_v<decltype(function(config))>) {
      return {{std::string(returned_number_metric), static_cast<double>(function(config))}};
    } else {
      return function(config);
    }
  };
}

}  // namespace detail

}  // namespace troupe

#define TROUPE_DETAIL_JOIN2(a, b) a##b
#define TROUPE_DETAIL_JOIN(a, b) TROUPE_DETAIL_JOIN2(a, b)

/// Registers the class `Type` (derived from `Trainable`) under its own name. At namespace scope.
#define TROUPE_TRAINABLE(Type) TROUPE_TRAINABLE_AS(Type, #Type)
#define TROUPE_TRAINABLE_AS(Type, name)                           \
  static const ::troupe::detail::Registration TROUPE_DETAIL_JOIN( \
      troupe_registration_, __COUNTER__)(name, std::type_identity<Type>{})

/// Registers the function `fn(const Config&)`, which returns nothing, a number or `Metrics`. A
/// number is a result with the metric "_metric": tune it with `TuneConfig::metric = "_metric"`.
#define TROUPE_TRAINABLE_FUNCTION(fn)                             \
  static const ::troupe::detail::Registration TROUPE_DETAIL_JOIN( \
      troupe_registration_, __COUNTER__)(#fn, ::troupe::detail::adapt_function(&fn))
