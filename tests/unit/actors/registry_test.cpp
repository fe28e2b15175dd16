#include <troupe/actors/registry.hpp>

#include <algorithm>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

class RegisteredClass : public Trainable {
public:
  Metrics step() override { return {}; }
};
TROUPE_TRAINABLE(RegisteredClass);
TROUPE_TRAINABLE_AS(RegisteredClass, "another name");

class Saves : public RegisteredClass {
public:
  void save_checkpoint(const std::filesystem::path&) override {}
};
TROUPE_TRAINABLE(Saves);

class SavesByItsBase : public Saves {};
TROUPE_TRAINABLE(SavesByItsBase);

class SavesOutOfSight : public RegisteredClass {
  void save_checkpoint(const std::filesystem::path&) override {}
};
TROUPE_TRAINABLE(SavesOutOfSight);

Metrics registered_function(const Config& config) {
  return config;
}
TROUPE_TRAINABLE_FUNCTION(registered_function);

}  // namespace

TEST_CASE("classes and functions are found by their names") {
  const auto by_type = find_trainable("RegisteredClass");
  REQUIRE(by_type);
  CHECK_FALSE(by_type->is_function());
  CHECK(by_type->create() != nullptr);
  CHECK(find_trainable("another name"));
  const auto function = find_trainable("registered_function");
  REQUIRE(function);
  CHECK(function->is_function());
  CHECK(function->function({{"x", 1}}).at("x").as_int() == 1);
  const auto names = trainable_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
}

TEST_CASE("a class that inherits the function that throws is known not to save") {
  const auto saves = [](const char* name) { return find_trainable(name)->saves_checkpoints; };
  CHECK_FALSE(saves("RegisteredClass"));
  CHECK_FALSE(saves("another name"));
  CHECK(saves("Saves"));
  CHECK(saves("SavesByItsBase"));
  CHECK(saves("SavesOutOfSight"));
  CHECK(saves("registered_function"));
}

TEST_CASE("an unknown name gets close matches and the list") {
  const auto missing = find_trainable("RegisteredClas");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == ErrorCode::not_found);
  CHECK(missing.error().message().find("did you mean 'RegisteredClass'") != std::string::npos);
  CHECK(missing.error().message().find("registered_function") != std::string::npos);
}

TEST_CASE("names are used once, and have a length") {
  const auto function = [](const Config&) { return Metrics{}; };
  CHECK_THROWS_AS(register_trainable("registered_function", TrainableFunction(function)),
                  Exception);
  CHECK_THROWS_AS(register_trainable("", TrainableFunction(function)), Exception);
  CHECK_THROWS_AS(register_trainable(std::string(300, 'x'), TrainableFunction(function)),
                  Exception);
  CHECK_THROWS_AS(register_trainable("empty", TrainableFunction()), Exception);
}
