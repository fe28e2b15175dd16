#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/optimizer.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/tpe.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

/// What an optimizer takes for its own state.
namespace troupe::tune {
namespace {

SearchContext context(std::uint64_t samples = 50) {
  return {.space = {{"x", uniform(-1, 1)}, {"n", randint(0, 100)}},
          .objectives = {{"loss", Mode::min}},
          .seed = 5,
          .num_samples = samples};
}

/// Some of everything that may happen.
Value busy_state() {
  Optimizer optimizer(*tpe(), context());
  optimizer.add({.config = {{"x", 0.5}, {"n", 3}}, .metrics = {{"loss", 1.5}}});
  optimizer.enqueue({{"n", 7}});
  const auto asked = optimizer.ask(6);
  optimizer.report(asked[0].id, 3, {{"loss", 2.0}});
  optimizer.tell(asked[0].id, 1.0);
  optimizer.report(asked[1].id, 1, {{"loss", 2.0}});
  optimizer.tell_pruned(asked[1].id);
  optimizer.tell_failed(asked[2].id);
  optimizer.tell(asked[3].id, std::nan(""));
  optimizer.tell(asked[5].id, 3.0);
  optimizer.enqueue({{"n", 9}});
  return optimizer.save();
}

/// Why the state is refused; empty: it is taken. Refused, it changes nothing.
std::string refusal(const Value& state, const SearchContext& own, const Searcher& searcher,
                    ErrorCode code) {
  Optimizer optimizer(searcher, own);
  (void)optimizer.ask();
  const Value before = optimizer.save();
  const Status status = optimizer.restore(state);
  if (status) {
    Value saved = optimizer.save();
    saved.as_map()["num_samples"] = state.as_map().at("num_samples");
    CHECK(saved == state);
    return "";
  }
  CHECK(optimizer.save() == before);
  CHECK(status.error().code() == code);
  return status.error().message();
}

std::string damage(const std::function<void(List& log)>& change) {
  Value state = busy_state();
  change(state.as_map()["log"].as_list());
  return refusal(state, context(), *tpe(), ErrorCode::corrupt);
}

Value& part(List& log, std::size_t entry, std::size_t number) {
  return log.at(entry).as_list().at(number);
}

TEST_CASE("states of something else are refused and change nothing") {
  const auto tell = [](const Value& state) {
    return refusal(state, context(), *tpe(), ErrorCode::corrupt);
  };
  CHECK(tell(busy_state()) == "");
  for (const Value& bad : {Value(), Value(3), Value(Map{}), Value(Map{{"searcher", "tpe"}})})
    CHECK(tell(bad).find("the state of an optimizer: its settings or the list") == 0);
  for (const char* key : {"setting", "num_samples", "log", "exhausted"}) {
    Value state = busy_state();
    state.as_map().erase(key);
    CHECK(tell(state) != "");
    state.as_map()[key] = "text";
    CHECK(tell(state) != "");
  }
}

TEST_CASE("a state that contradicts itself is refused by the number of the entry") {
  // add, enqueue, six asks, report, tell, report, pruned, failed, two times tell, enqueue
  CHECK(damage([](List&) {}) == "");
  // Trials that are missing, and results of them that are there.
  CHECK(damage([](List& log) { log.erase(log.begin()); }).find("entry 13: trial 6") !=
        std::string::npos);
  CHECK(damage([](List& log) {
          log.erase(log.begin() + 2, log.begin() + 8);
        }).find("entry 2: trial 1 is not pending: it was never asked for") != std::string::npos);
  CHECK(damage([](List& log) {
          log.insert(log.begin() + 10, log[9]);
        }).find("entry 10: trial 1 is not pending: it was told") != std::string::npos);
  CHECK(damage([](List& log) {
          part(log, 9, 1) = std::int64_t{UINT32_MAX};
        }).find("entry 9: trial 4294967295 is not pending") != std::string::npos);
  CHECK(damage([](List& log) { part(log, 9, 1) = std::int64_t{1} << 32U; }).find("entry 9") !=
        std::string::npos);
  // Configurations of another space.
  CHECK(damage([](List& log) {
          part(log, 4, 1).as_map()["x"] = 99.0;
        }).find("entry 4: x = 99.0: it does not lie in uniform(-1, 1)") != std::string::npos);
  CHECK(damage([](List& log) {
          part(log, 4, 1).as_map()["y"] = 1;
        }).find("entry 4: the configuration has an entry 'y' that the space has not") !=
        std::string::npos);
  CHECK(damage([](List& log) { part(log, 4, 1).as_map().erase("x"); }).find("'x' is missing") !=
        std::string::npos);
  CHECK(damage([](List& log) { part(log, 0, 1).as_map()["n"] = 100; }).find("entry 0: add") !=
        std::string::npos);
  CHECK(damage([](List& log) { part(log, 1, 1).as_map()["n"] = 100; }).find("entry 1: n = 100") !=
        std::string::npos);
  CHECK(damage([](List& log) {
          part(log, 2, 1).as_map()["n"] = 8;
        }).find("entry 2: it is not the configuration that was enqueued") != std::string::npos);
  // Results that no call takes.
  CHECK(damage([](List& log) {
          part(log, 9, 2).as_map()["loss"] = "1";
        }).find("a string was reported") != std::string::npos);
  CHECK(damage([](List& log) {
          part(log, 8, 2).as_map()["training_iteration"] = -3;
        }).find("entry 8") != std::string::npos);
  CHECK(damage([](List& log) {
          part(log, 9, 2).as_map()["training_iteration"] = 2;
        }).find("at least 3") != std::string::npos);
  CHECK(damage([](List& log) { part(log, 0, 3) = 17; }).find("entry 0: no call leaves") !=
        std::string::npos);
  CHECK(damage([](List& log) { part(log, 9, 0) = "told"; }).find("entry 9: no call leaves") !=
        std::string::npos);
  CHECK(damage([](List& log) { log.push_back(List{}); }).find("entry 16: no call leaves") !=
        std::string::npos);
}

TEST_CASE("what a call refuses may be from an earlier version, what no call leaves is not") {
  const char* earlier =
      "it is not what save() gave, or an earlier version took what this one "
      "refuses: restore another copy of it, or begin anew";
  CHECK(damage([](List& log) { log.insert(log.begin() + 9, log[8]); }).find(earlier) !=
        std::string::npos);
  CHECK(damage([](List& log) {
          log.push_back(List{});
        }).find("no call leaves such an entry; it is not what save() gave: restore another") !=
        std::string::npos);
}

TEST_CASE("the state of another setting is refused with both values") {
  const auto tell = [](const SearchContext& other, const Searcher& searcher = *tpe()) {
    return refusal(busy_state(), other, searcher, ErrorCode::invalid_argument);
  };
  CHECK(tell(context()) == "");
  CHECK(tell(context(7)) == "");  // more or fewer samples are the same search
  CHECK(tell(context(), *gp()).find("searcher.name = \"tpe\", and here it is \"gp\"") !=
        std::string::npos);
  CHECK(tell(context(), *tpe({.candidates = 3}))
            .find("searcher.options.candidates = 24, and here it is 3: restore it into one with") !=
        std::string::npos);
  const auto with = [&](const std::function<void(SearchContext&)>& change) {
    SearchContext other = context();
    change(other);
    const std::string message = tell(other);
    const std::string before = "the optimizer was saved with SearchContext.";
    REQUIRE(message.find(before) == 0);
    return message.substr(before.size(), message.find(": restore") - before.size());
  };
  CHECK(with([](SearchContext& c) { c.space.add("y", uniform(0, 1)); }) ==
        "space.parameters.y = nothing, and here it is {\"uniform\":[0.0,1.0]}");
  CHECK(with([](SearchContext& c) {
          c.space.require(less("x", "n"));
        }).find("space.require = no") == 0);
  CHECK(with([](SearchContext& c) { c.objectives[0].mode = Mode::max; }) ==
        "objectives[0][1] = \"min\", and here it is \"max\"");
  CHECK(with([](SearchContext& c) { c.constraints = {"memory"}; }) ==
        "constraints[0] = nothing, and here it is \"memory\"");
  CHECK(with([](SearchContext& c) { c.seed = 6; }) == "seed = 5, and here it is 6");
  CHECK(with([](SearchContext& c) { c.allow_repeats = true; }) ==
        "allow_repeats = false, and here it is true");
  CHECK(with([](SearchContext& c) {
          c.points_to_evaluate = {{{"n", 3}}};
        }) == "points_to_evaluate[0] = nothing, and here it is {\"n\":3}");
  CHECK(with([](SearchContext& c) {
          c.known_results = {{.config = {{"x", 0}, {"n", 3}}, .ending = Ending::failed}};
        }) == "known_results[0] = nothing, and here it is [{\"n\":3,\"x\":0.0},{},2]");
}

TEST_CASE("a search that was restored may become longer") {
  SearchContext given = context(3);
  given.points_to_evaluate = {{{"n", 1}}, {{"n", 2}}, {{"n", 3}}, {{"n", 4}}};
  for (const auto& searcher : {basic_variant(), random_search(), tpe()}) {
    CAPTURE(searcher->name());
    Optimizer shorter(*searcher, given);
    CHECK(shorter.ask(9).size() == 3);
    CHECK(shorter.exhausted());
    SearchContext more = given;
    more.num_samples = 6;
    Optimizer longer(*searcher, more);
    longer.restore(parse_json(to_json(shorter.save())).value_or_throw()).value_or_throw();
    CHECK(!longer.exhausted());
    CHECK(longer.ask()->config.at("n") == Value(4));
    CHECK(longer.ask(9).size() == 2);
    CHECK(longer.exhausted());
    Optimizer equal(*searcher, more);
    equal.restore(longer.save()).value_or_throw();
    CHECK(equal.exhausted());
  }
}

TEST_CASE("of the reports of a trial only what searchers learn is kept, and all of the last one") {
  const auto report = [](Optimizer& optimizer, TrialId id, int step) {
    optimizer.report(id, static_cast<std::uint64_t>(step),
                     {{"loss", 0.1 + step}, {"accuracy", 0.5}, {"time", Map{{"s", step}}}});
  };
  Optimizer optimizer(*tpe(), context());
  const auto asked = optimizer.ask(3);
  for (const auto& [id, config] : asked)
    for (int step = 1; step <= 100; ++step)
      report(optimizer, id, step);
  optimizer.tell(asked[0].id, 1.0);
  optimizer.tell_pruned(asked[1].id);
  const Value state = optimizer.save();
  CHECK(to_json(state).size() < 300 * 70 + 2'000);
  const List& log = state.as_map().at("log").as_list();
  const auto all = [&](const Value& entry) {
    const List* parts = entry.get_if<List>();
    return (*parts)[0] == Value("report") && (*parts)[2].as_map().find("accuracy") != nullptr;
  };
  CHECK(std::count_if(log.begin(), log.end(), all) == 2);
  Optimizer restored(*tpe(), context());
  restored.restore(parse_json(to_json(state)).value_or_throw()).value_or_throw();
  CHECK(restored.save() == state);
  for (const std::uint32_t trial : {1, 2})
    CHECK(restored.trials().at(TrialId(trial)).metrics.at("time/s") == Value(100));
  for (Optimizer* one : {&optimizer, &restored})
    report(*one, asked[2].id, 101);
  CHECK(restored.save() == optimizer.save());
}

/// A searcher as a user may write it, defects included.
class Own final : public Searcher {
public:
  explicit Own(Config config) : config_(std::move(config)) {}

  /// The name of a call.
  std::shared_ptr<std::string> throws = std::make_shared<std::string>();

  std::string name() const override { return "own"; }
  Value options() const override { return may_throw("options"), Value(); }
  std::unique_ptr<Searcher> clone() const override {
    return may_throw("clone"), std::make_unique<Own>(*this);
  }
  Status setup(const SearchContext&) override { return may_throw("setup"), ok(); }
  Result<Suggestion> suggest(TrialId) const override {
    return may_throw("suggest"), Suggestion::of(config_);
  }
  void record(TrialId, const Config&, const Value&) override { may_throw("record"); }
  void on_result(TrialId, const Metrics&) override { may_throw("on_result"); }
  void on_complete(TrialId, Ending, const Metrics*) override { may_throw("on_complete"); }
  Value save() const override { return {}; }
  Status restore(const Value&) override { return ok(); }

private:
  void may_throw(const char* call) const {
    if (*throws == call)
      throw std::runtime_error("out of luck");
  }

  Config config_;
};

TEST_CASE("a suggestion that is no configuration of the space is refused when it is made") {
  const auto refused = [](const Config& config, const std::string& why) {
    Optimizer optimizer(Own(config), context());
    const Value before = optimizer.save();
    CHECK_THROWS_WITH_AS(
        (void)optimizer.ask(),
        doctest::Contains(("the searcher own failed: what it suggests for trial 0 is no "
                           "configuration of the space: " +
                           why)
                              .c_str()),
        Exception);
    CHECK(optimizer.save() == before);
  };
  refused({{"x", 0.5}, {"n", 3}, {"y", 1}}, "the configuration has an entry 'y'");
  refused({{"x", 0.5}}, "'n' is missing");
  refused({{"x", 1.5}, {"n", 3}}, "x = 1.5: ");
}

TEST_CASE("a suggestion has the form and the constants of the space") {
  const auto asked = [](const Config& config) {
    auto with_constants = context();
    with_constants.space.add("epochs", 5);
    with_constants.space.add("data", ParamSpace{{"path", "/d"}});
    return Optimizer(Own(config), with_constants).ask()->config;
  };
  const Config whole{{"x", 0.0}, {"n", 3}, {"epochs", 5}, {"data", Config{{"path", "/d"}}}};
  CHECK(asked(whole) == whole);
  CHECK(asked({{"x", 0}, {"n", 3}}) == whole);
  CHECK_THROWS_WITH_AS(
      (void)asked({{"x", 0.5}, {"n", 3}, {"epochs", 99}}),
      doctest::Contains("'epochs' is 99, and in the space the constant 5: leave it out"),
      Exception);
}

std::string thrown_by(const char* call) {
  return std::string("the searcher own failed: its ") + call +
         "() throws: out of luck; mend it there, or catch it";
}

TEST_CASE("what a searcher throws is an error that names it and the call, and changes nothing") {
  const Config config{{"x", 0.5}, {"n", 3}};
  const Own searcher(config);
  Optimizer optimizer(searcher, context());
  for (int i = 0; i < 2; ++i)
    (void)optimizer.ask();
  optimizer.report(TrialId(0), 1, {{"loss", 2.0}, {"time", 1}});
  const Value before = optimizer.save();
  using Use = std::function<void()>;
  const std::vector<std::pair<const char*, Use>> uses{
      {"clone", [&] { Optimizer(searcher, context()); }},
      {"setup", [&] { Optimizer(searcher, context()); }},
      {"options", [&] { (void)optimizer.save(); }},
      {"suggest", [&] { (void)optimizer.ask(); }},
      {"record", [&] { (void)optimizer.ask(); }},
      {"record",
       [&] {
         optimizer.add({.config = config, .metrics = {{"loss", 1.0}}});
       }},
      {"on_complete",
       [&] {
         optimizer.add({.config = config, .metrics = {{"loss", 1.0}}});
       }},
      {"on_result",
       [&] {
         optimizer.report(TrialId(0), 2, {{"loss", 2.0}});
       }},
      {"on_complete", [&] { optimizer.tell(TrialId(0), 1.0); }},
      {"on_complete", [&] { optimizer.tell_pruned(TrialId(0)); }},
      {"on_complete", [&] { optimizer.tell_failed(TrialId(0)); }}};
  for (const auto& [call, use] : uses) {
    CAPTURE(call);
    *searcher.throws = call;
    CHECK_THROWS_WITH_AS(use(), ("user_code: " + thrown_by(call)).c_str(), Exception);
    *searcher.throws = "";
    CHECK(optimizer.save() == before);
    CHECK(optimizer.trials().size() == 2);
    CHECK(optimizer.trials().at(TrialId(0)).pending);
  }
  optimizer.tell(TrialId(0), 1.0);
}

TEST_CASE(
    "what a searcher throws while an optimizer is restored is an error that names the entry") {
  const Own searcher({{"x", 0.5}, {"n", 3}});
  Optimizer optimizer(searcher, context());
  (void)optimizer.ask();
  const Value state = optimizer.save();
  for (const char* call : {"options", "clone", "setup", "record"}) {
    *searcher.throws = call;
    const Status status = optimizer.restore(state);
    *searcher.throws = "";
    REQUIRE(!status);
    CHECK(status.error().code() == ErrorCode::user_code);
    const std::string entry = call == std::string("record") ? "entry 0: " : "";
    CHECK(status.error().message() == "the state of an optimizer: " + entry + thrown_by(call));
    CHECK(optimizer.save() == state);
  }
}

TEST_CASE("a large difference is shown in short") {
  SearchContext own = context();
  List values;
  for (int i = 0; i < 500; ++i)
    values.emplace_back("\u00e9 " + std::to_string(i));
  own.space.add("k", choice(values));
  const std::string message = refusal(busy_state(), own, *tpe(), ErrorCode::invalid_argument);
  CHECK(message.size() < 600);
  CHECK(message.find("...: restore it") != std::string::npos);
}

}  // namespace
}  // namespace troupe::tune
