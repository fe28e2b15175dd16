#include <troupe/tune/detail/searching.hpp>

#include <exception>
#include <string>
#include <utility>

namespace troupe::tune::detail {
namespace {

/// Beyond, copying the searcher anew is cheaper than to keep what it should be told.
constexpr std::size_t max_untold = 10'000;

}  // namespace

void SearchCall::make(Searcher& searcher) const {
  switch (kind) {
    case Kind::record:
      searcher.record(trial, map, note);
      return;
    case Kind::on_result:
      searcher.on_result(trial, map);
      return;
    case Kind::on_complete:
      searcher.on_complete(trial, ending, has_metrics ? &map : nullptr);
      return;
  }
}

SuggestJob::SuggestJob(std::shared_ptr<Searcher> copy, std::vector<SearchCall> calls, TrialId trial)
    : copy_(std::move(copy)), calls_(std::move(calls)), trial_(trial) {}

SuggestJob::SuggestJob(Error failed, TrialId trial) : trial_(trial), answer_(std::move(failed)) {}

void SuggestJob::run() noexcept {
  if (!copy_)
    return;
  try {
    for (const SearchCall& call : calls_)
      call.make(*copy_);
    answer_ = copy_->suggest(trial_);
  } catch (const Exception& e) {
    answer_ = e.error();
  } catch (const std::exception& e) {
    answer_ = Error(ErrorCode::user_code, e.what());
  } catch (...) {
    answer_ = Error(ErrorCode::user_code, "unknown exception");
  }
}

void Searching::record(TrialId trial, const Config& config, const Value& note) {
  searcher_->record(trial, config, note);
  if (copy_)
    keep({.kind = SearchCall::Kind::record, .trial = trial, .map = config, .note = note});
}

void Searching::on_result(TrialId trial, const Metrics& metrics) {
  searcher_->on_result(trial, metrics);
  if (copy_)
    keep({.kind = SearchCall::Kind::on_result, .trial = trial, .map = metrics});
}

void Searching::on_complete(TrialId trial, Ending ending, const Metrics* last) {
  searcher_->on_complete(trial, ending, last);
  if (copy_)
    keep({.kind = SearchCall::Kind::on_complete,
          .trial = trial,
          .map = last != nullptr ? *last : Metrics(),
          .ending = ending,
          .has_metrics = last != nullptr});
}

void Searching::keep(SearchCall call) {
  untold_.push_back(std::move(call));
  if (untold_.size() <= max_untold)
    return;
  untold_.clear();
  copy_.reset();
}

std::shared_ptr<SuggestJob> Searching::ask(TrialId trial) {
  if (!copy_) {
    untold_.clear();
    try {
      copy_ = searcher_->clone();
    } catch (const Exception& e) {
      return std::make_shared<SuggestJob>(e.error(), trial);
    }
  }
  return std::make_shared<SuggestJob>(copy_, std::exchange(untold_, {}), trial);
}

}  // namespace troupe::tune::detail
