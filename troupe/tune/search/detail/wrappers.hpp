#pragma once

#include <troupe/tune/search/wrappers.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tune::detail {

class ConcurrencyLimiter final : public Searcher {
public:
  ConcurrencyLimiter(std::unique_ptr<Searcher> searcher, ConcurrencyLimit limit)
      : searcher_(std::move(searcher)), limit_(limit) {}

  std::string name() const override { return "concurrency_limiter"; }
  Value options() const override;
  std::unique_ptr<Searcher> clone() const override;
  bool instant() const override { return searcher_->instant(); }
  bool enumerates() const override { return searcher_->enumerates(); }
  Status setup(const SearchContext& context) override;
  std::optional<std::uint64_t> planned(const SearchContext& context) const override {
    return searcher_->planned(context);
  }
  Result<Suggestion> suggest(TrialId trial) const override;
  void record(TrialId trial, const Config& config, const Value& note) override;
  void amend(TrialId trial, const Config& config) override { searcher_->amend(trial, config); }
  void on_result(TrialId trial, const Metrics& metrics) override;
  void on_complete(TrialId trial, Ending ending, const Metrics* last) override;
  Value save() const override;
  Status restore(const Value& state) override;

private:
  struct Over {
    TrialId trial{};
    Ending ending{};
    std::optional<Metrics> last{};
  };

  [[nodiscard]] Status check_options() const;
  static std::optional<std::vector<Over>> over_of(const List& held);
  void tell_held();

  std::unique_ptr<Searcher> searcher_;
  ConcurrencyLimit limit_;
  std::set<std::uint32_t> running_;
  std::optional<std::uint64_t> planned_;
  std::uint64_t created_ = 0;
  std::uint64_t in_batch_ = 0;  ///< trials of this batch, over or not
  std::vector<Over> held_;      ///< of this batch, not told yet
};

class Repeater final : public Searcher {
public:
  Repeater(std::unique_ptr<Searcher> searcher, std::uint32_t repeats)
      : searcher_(std::move(searcher)), repeats_(repeats) {}

  std::string name() const override { return "repeater"; }
  Value options() const override;
  std::unique_ptr<Searcher> clone() const override;
  bool instant() const override { return searcher_->instant(); }
  bool enumerates() const override { return searcher_->enumerates(); }
  Status setup(const SearchContext& context) override;
  std::optional<std::uint64_t> planned(const SearchContext& context) const override;
  Result<Suggestion> suggest(TrialId trial) const override;
  void record(TrialId trial, const Config& config, const Value& note) override;
  void amend(TrialId trial, const Config& config) override {
    if (const auto found = trial_.find(trial.value); found != trial_.end())
      searcher_->amend(TrialId(found->second), config);
  }
  void on_complete(TrialId trial, Ending ending, const Metrics* last) override;
  Value save() const override;
  Status restore(const Value& state) override;

private:
  /// One configuration and its trials. For the searcher it is the trial of its number.
  struct Group {
    Config config{};
    std::uint64_t asked = 0;
    std::uint64_t over = 0;
    std::vector<std::pair<Ending, Metrics>> results{};  ///< that had any
  };

  [[nodiscard]] Status check_options() const;
  void tell(std::uint32_t number, const Group& group);
  [[nodiscard]] Status restore_groups(const Value& state);

  std::unique_ptr<Searcher> searcher_;
  std::uint32_t repeats_;
  std::uint32_t next_ = 0;                        ///< number of the next group
  std::map<std::uint32_t, Group> groups_;         ///< that are not over
  std::map<std::uint32_t, std::uint32_t> trial_;  ///< group of each trial that runs
  std::optional<std::uint64_t> num_samples_;
  std::uint64_t created_ = 0;
};

class SwitchSearcher final : public Searcher {
public:
  SwitchSearcher(std::unique_ptr<Searcher> first, std::unique_ptr<Searcher> second,
                 std::uint64_t trials)
      : first_(std::move(first)), second_(std::move(second)), trials_(trials) {}

  std::string name() const override { return "switch_searcher"; }
  Value options() const override;
  std::unique_ptr<Searcher> clone() const override;
  bool instant() const override { return first_->instant() && second_->instant(); }
  Status setup(const SearchContext& context) override;
  Result<Suggestion> suggest(TrialId trial) const override;
  void record(TrialId trial, const Config& config, const Value& note) override;
  void amend(TrialId trial, const Config& config) override {
    first_->amend(trial, config);
    second_->amend(trial, config);
  }
  void on_result(TrialId trial, const Metrics& metrics) override;
  void on_complete(TrialId trial, Ending ending, const Metrics* last) override;
  Value save() const override;
  Status restore(const Value& state) override;

private:
  [[nodiscard]] Status check_options() const;

  std::unique_ptr<Searcher> first_;
  std::unique_ptr<Searcher> second_;
  std::uint64_t trials_;
  std::optional<std::uint64_t> num_samples_;
  std::uint64_t created_ = 0;
};

}  // namespace troupe::tune::detail
