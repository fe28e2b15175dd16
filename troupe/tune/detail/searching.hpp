#pragma once

#include <troupe/actors/protocol.hpp>
#include <troupe/tune/search/searcher.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::tune::detail {

/// One call that changes a searcher.
struct SearchCall {
  enum class Kind : std::uint8_t { record, on_result, on_complete };

  Kind kind = Kind::record;
  TrialId trial{};
  Map map{};  ///< configuration or metrics
  Value note{};
  Ending ending = Ending::finished;
  bool has_metrics = false;

  void make(Searcher& searcher) const;
};

/// Asks a copy of the searcher, beside the loop.
class SuggestJob final : public Computation {
public:
  /// `copy` has heard everything before `calls`. Nobody else uses it until the job is done.
  SuggestJob(std::shared_ptr<Searcher> copy, std::vector<SearchCall> calls, TrialId trial);

  /// There is no copy to ask, and this is why.
  SuggestJob(Error failed, TrialId trial);

  void run() noexcept override;
  [[nodiscard]] TrialId trial() const { return trial_; }
  /// After `run`.
  [[nodiscard]] Result<Suggestion>& answer() { return answer_; }

private:
  std::shared_ptr<Searcher> copy_;
  std::vector<SearchCall> calls_;
  TrialId trial_;
  Result<Suggestion> answer_ = Suggestion::nothing_now();
};

/// The searcher of a loop, and the copy of it that is asked.
///
/// Suggesting may take seconds, and events must not wait for it. What a searcher has seen changes
/// in the loop alone, with each event, which is cheap and makes it part of the loop's state. Only
/// `suggest` runs beside, on a copy: equal calls in equal order make an equal searcher, so the copy
/// is told what happened since it was asked last, and its answer is what the original would have
/// said at the moment of the question.
class Searching {
public:
  Searching() = default;
  /// A guarded one.
  explicit Searching(std::unique_ptr<Searcher> searcher) : searcher_(std::move(searcher)) {}

  [[nodiscard]] Searcher& searcher() { return *searcher_; }
  [[nodiscard]] const Searcher& searcher() const { return *searcher_; }

  void record(TrialId trial, const Config& config, const Value& note);
  void on_result(TrialId trial, const Metrics& metrics);
  void on_complete(TrialId trial, Ending ending, const Metrics* last);

  /// The next job. Only when the one before is done.
  [[nodiscard]] std::shared_ptr<SuggestJob> ask(TrialId trial);

private:
  void keep(SearchCall call);

  std::unique_ptr<Searcher> searcher_;
  std::shared_ptr<Searcher> copy_;  ///< made with the first question
  std::vector<SearchCall> untold_;  ///< what the copy does not know yet
};

}  // namespace troupe::tune::detail
