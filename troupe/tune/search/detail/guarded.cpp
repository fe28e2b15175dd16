#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/detail/guarded.hpp>

#include <optional>
#include <utility>

namespace troupe::tune::detail {
namespace {

class Guarded final : public Searcher {
public:
  Guarded(const Searcher& searcher, std::string name)
      : name_(std::move(name)),
        who_("the searcher " + name_),
        searcher_(user_copy(who_, searcher)) {}
  Guarded(const Guarded& other)
      : name_(other.name_),
        who_(other.who_),
        design_(other.design_),
        choices_(other.choices_),
        searcher_(user_copy(who_, *other.searcher_)) {}
  Guarded& operator=(const Guarded&) = delete;

  std::string name() const override { return name_; }
  Value options() const override {
    return call("options", [&] { return searcher_->options(); });
  }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Guarded>(*this); }
  Status setup(const SearchContext& context) override {
    design_ = std::make_shared<Design>(context.space);
    choices_ = 0;
    for (const Axis& axis : design_->axes())
      choices_ += axis.categorical() ? axis.count() : 0;
    return error_of("setup", [&] { return searcher_->setup(context); });
  }
  bool instant() const override {
    return choices_ <= instant_choices && call("instant", [&] { return searcher_->instant(); });
  }
  bool enumerates() const override {
    return call("enumerates", [&] { return searcher_->enumerates(); });
  }
  std::optional<std::uint64_t> planned(const SearchContext& context) const override {
    return call("planned", [&] { return searcher_->planned(context); });
  }
  Result<Suggestion> suggest(TrialId trial) const override {
    TROUPE_TRY(suggestion, error_of("suggest", [&] {
                 return searcher_->suggest(trial).with_context(who_ + " failed");
               }));
    if (suggestion.kind != Suggestion::Kind::config)
      return suggestion;
    auto adopted = adopt_suggested(*design_, suggestion.config);
    if (!adopted)
      return Error(ErrorCode::user_code,
                   who_ + " failed: what it suggests for trial " + to_string(trial) +
                       " is no configuration of the space: " + adopted.error().message());
    suggestion.config = adopted.take();
    return suggestion;
  }
  void record(TrialId trial, const Config& config, const Value& note) override {
    call("record", [&] { searcher_->record(trial, config, note); });
  }
  void amend(TrialId trial, const Config& config) override {
    call("amend", [&] { searcher_->amend(trial, config); });
  }
  void on_result(TrialId trial, const Metrics& metrics) override {
    call("on_result", [&] { searcher_->on_result(trial, metrics); });
  }
  void on_complete(TrialId trial, Ending ending, const Metrics* last) override {
    call("on_complete", [&] { searcher_->on_complete(trial, ending, last); });
  }
  Value save() const override {
    return call("save", [&] { return searcher_->save(); });
  }
  Status restore(const Value& state) override {
    return error_of("restore", [&] { return searcher_->restore(state); });
  }

private:
  /// A value is looked for among those of its choice: up to so many of them, in all choices, take a
  /// few microseconds.
  static constexpr std::uint64_t instant_choices = 1'000;

  template <class Call>
  auto call(const char* name, Call&& code) const -> decltype(code()) {
    return user_call(who_, name, code);
  }
  template <class Call>
  auto error_of(const char* name, Call&& code) const -> decltype(code()) {
    try {
      return call(name, code);
    } catch (const Exception& e) {
      return e.error();
    }
  }

  std::string name_;
  std::string who_;
  std::shared_ptr<const Design> design_;
  std::uint64_t choices_ = 0;  ///< values of all of them
  std::unique_ptr<Searcher> searcher_;
};

}  // namespace

Result<std::unique_ptr<Searcher>> guarded(const Searcher& searcher) {
  try {
    if (dynamic_cast<const Guarded*>(&searcher) != nullptr)
      return searcher.clone();
    auto name = user_call("a searcher", "name", [&] { return searcher.name(); });
    return std::unique_ptr<Searcher>(std::make_unique<Guarded>(searcher, std::move(name)));
  } catch (const Exception& e) {
    return e.error();
  }
}

}  // namespace troupe::tune::detail
