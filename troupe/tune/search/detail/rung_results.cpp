#include <troupe/tune/search/detail/rung_results.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace troupe::tune::detail {
namespace {

/// No rung is further than 2^64 iterations, with the smallest sensible factor.
constexpr std::size_t max_rungs = 1000;

Error bad(const std::string& what) {
  return Error(ErrorCode::corrupt, "the results at rungs of a searcher: " + what);
}

}  // namespace

std::size_t RungResults::rung_of(std::uint64_t step) const {
  std::size_t rung = 0;
  // As in ASHA: by products, since a logarithm may be off by one. The tolerance is for factors that
  // are not whole.
  const double steps = static_cast<double>(step) * (1 + 1e-9);
  for (double next = static_cast<double>(grace_) * factor_; next <= steps && rung < max_rungs - 1;
       next *= factor_)
    ++rung;
  return rung;
}

void RungResults::put(std::size_t rung, Entry entry) {
  if (rungs_.size() <= rung)
    rungs_.resize(rung + 1);
  reached_[entry.trial.value] = rung + 1;
  std::vector<Entry>& entries = rungs_[rung];
  const auto place =
      std::upper_bound(entries.begin(), entries.end(), entry, [](const Entry& a, const Entry& b) {
        return std::tie(a.violation, a.loss) < std::tie(b.violation, b.loss);
      });
  entries.insert(place, entry);
}

void RungResults::add(TrialId trial, std::uint64_t step, double loss, double violation) {
  if (step < grace_)
    return;
  const std::size_t rung = rung_of(step);
  const auto found = reached_.find(trial.value);
  if (found == reached_.end() || rung >= found->second)
    put(rung, {trial, violation, loss});
}

void RungResults::fail(TrialId trial) {
  constexpr double worst = std::numeric_limits<double>::infinity();
  if (!reached_.contains(trial.value))
    put(0, {trial, worst, worst});
  for (std::vector<Entry>& rung : rungs_) {
    const auto found = std::find_if(rung.begin(), rung.end(),
                                    [&](const Entry& entry) { return entry.trial == trial; });
    if (found == rung.end())
      continue;
    *found = {trial, worst, worst};
    std::rotate(found, found + 1, rung.end());
  }
}

Value RungResults::save() const {
  List rungs;
  for (const std::vector<Entry>& rung : rungs_) {
    List entries;
    for (const Entry& entry : rung)
      entries.push_back(List{entry.trial.value, entry.violation, entry.loss});
    rungs.push_back(std::move(entries));
  }
  return rungs;
}

Status RungResults::restore(const Value& state, const History& history) {
  const List* rungs = state.get_if<List>();
  if (rungs == nullptr || rungs->size() > max_rungs)
    return bad("no list of rungs");
  RungResults restored(grace_, factor_);
  restored.rungs_.resize(rungs->size());
  for (std::size_t rung = 0; rung < rungs->size(); ++rung) {
    const List* entries = (*rungs)[rung].get_if<List>();
    if (entries == nullptr)
      return bad("a rung is no list");
    std::unordered_set<std::uint32_t> here;
    for (const Value& value : *entries) {
      const List* parts = value.get_if<List>();
      const auto trial =
          parts != nullptr && parts->size() == 3 ? trial_of((*parts)[0]) : std::nullopt;
      if (!trial || !is_within((*parts)[1], 0, infinity) ||
          !is_within((*parts)[2], -infinity, infinity))
        return bad("an entry is incomplete");
      if (history.find(*trial) == nullptr || !here.insert(trial->value).second)
        return bad("a trial is not known, or comes twice");
      restored.put(rung, {*trial, (*parts)[1].as_double(), (*parts)[2].as_double()});
    }
  }
  *this = std::move(restored);
  return ok();
}

}  // namespace troupe::tune::detail
