#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/tpe_model.hpp>
#include <troupe/tune/search/model_searcher.hpp>
#include <troupe/tune/search/tpe.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::tune {
namespace {

const std::vector<std::string_view> model_names = {"automatic", "joint", "independent"};

Value options_data(const TpeOptions& options) {
  return Map{{"startup_trials", options.startup_trials},
             {"candidates", options.candidates},
             {"model", detail::option_name(options.model, model_names)},
             {"group", options.group},
             {"constant_liar", options.constant_liar},
             {"local_liar", options.local_liar},
             {"failure_weight", options.failure_weight},
             {"prior_weight", options.prior_weight},
             {"good_fraction", options.good_fraction},
             {"max_good", options.max_good},
             {"rank_weights", options.rank_weights},
             {"magic_clip", options.magic_clip},
             {"sharpness", options.sharpness},
             {"endpoints", options.endpoints}};
}

class Tpe final : public ModelSearcher {
public:
  explicit Tpe(TpeOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "tpe"; }
  Value options() const override { return options_data(options_); }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Tpe>(*this); }

protected:
  std::size_t max_objectives() const override { return SIZE_MAX; }
  /// The model looks for points that were not tried by itself.
  std::uint32_t attempts() const override { return 1; }

  Status begin() override {
    model_ = detail::TpeModel(options_);
    TROUPE_RETURN_IF_ERROR(tpe_options(options()));
    return ok();
  }
  Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const override {
    return Proposal{.point = model_.propose(design(), history(), random(trial, attempt))};
  }
  void amended(const detail::Observation& observation) override {
    const auto number = static_cast<std::size_t>(&observation - history().all().data());
    model_.amend(design(), number, observation.point);
  }
  Status restore_model(const Value& state) override {
    model_ = detail::TpeModel(options_);
    return ModelSearcher::restore_model(state);
  }

private:
  TpeOptions options_;
  mutable detail::TpeModel model_;
};

}  // namespace

TpeOptions TpeOptions::optuna() {
  TpeOptions options;
  options.local_liar = false;
  options.failure_weight = 0;
  options.rank_weights = false;
  options.sharpness = 1;
  return options;
}

Result<TpeOptions> tpe_options(const Value& options) {
  constexpr std::uint32_t most = 1'000'000;
  TpeOptions tpe;
  detail::OptionReader reader("tpe", options);
  reader.read("startup_trials", tpe.startup_trials, 0, most);
  reader.read("candidates", tpe.candidates, 1, 10'000);
  reader.read("model", tpe.model, model_names);
  reader.read("group", tpe.group);
  reader.read("constant_liar", tpe.constant_liar);
  reader.read("local_liar", tpe.local_liar);
  reader.read("failure_weight", tpe.failure_weight, 0, 1e6);
  reader.read("prior_weight", tpe.prior_weight, 1e-6, 1e6);
  reader.read("good_fraction", tpe.good_fraction, 1e-6, 1);
  reader.read("max_good", tpe.max_good, 1, most);
  reader.read("rank_weights", tpe.rank_weights);
  reader.read("magic_clip", tpe.magic_clip);
  reader.read("sharpness", tpe.sharpness, 1, 1e6);
  reader.read("endpoints", tpe.endpoints);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return tpe;
}

std::shared_ptr<Searcher> tpe(TpeOptions options) {
  return std::make_shared<Tpe>(std::move(options));
}

}  // namespace troupe::tune
