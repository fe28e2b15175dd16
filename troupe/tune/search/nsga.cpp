#include <troupe/tune/search/detail/evolution.hpp>
#include <troupe/tune/search/detail/failure_map.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/order.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/model_searcher.hpp>
#include <troupe/tune/search/nsga.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::tune {
namespace {

using detail::Observation;
using detail::Point;

const std::vector<std::string_view> crossover_names{"uniform", "blx_alpha", "sbx",
                                                    "vsbx",    "spx",       "undx"};
const std::vector<std::string_view> mutation_names{"resample", "polynomial"};

/// Random numbers of selections, apart from those of trials.
constexpr std::uint32_t selection_counter = 999'997;

class Nsga final : public ModelSearcher {
public:
  Nsga(NsgaOptions options, bool niches) : options_(options), niches_(niches) {}

  std::string name() const override { return niches_ ? "nsga3" : "nsga2"; }
  Value options() const override;
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Nsga>(*this); }

protected:
  std::size_t max_objectives() const override { return SIZE_MAX; }
  std::uint32_t attempts() const override { return 10; }
  Status begin() override;
  Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const override;
  void observed(const Observation& observation) override;
  Value save_model() const override;
  Status restore_model(const Value& state) override;

private:
  using Trials = std::vector<std::uint32_t>;

  [[nodiscard]] Status check_directions() const;
  void select();
  [[nodiscard]] const Point& parent(Random& random) const;
  [[nodiscard]] Point child(Random& random) const;
  [[nodiscard]] std::optional<Trials> trials_of(const Value& state, std::string_view key,
                                                std::set<std::uint32_t>& seen) const;

  NsgaOptions options_;
  bool niches_;
  std::int64_t generation_ = 0;
  Trials parents_;  ///< best first
  Trials pool_;     ///< over since they were selected
};

Value Nsga::options() const {
  return Map{{"population", options_.population},
             {"crossover", detail::option_name(options_.crossover, crossover_names)},
             {"crossover_probability", options_.crossover_probability},
             {"swap_probability", options_.swap_probability},
             {"mutation", detail::option_name(options_.mutation, mutation_names)},
             {"mutation_probability", options_.mutation_probability},
             {"divisions", options_.divisions}};
}

Status Nsga::begin() {
  TROUPE_RETURN_IF_ERROR(nsga_options(name(), options()));
  if (niches_)
    TROUPE_RETURN_IF_ERROR(check_directions());
  generation_ = 0;
  parents_.clear();
  pool_.clear();
  for (const Observation& o : history().all())
    pool_.push_back(o.trial.value);
  if (pool_.size() >= options_.population)
    select();
  return ok();
}

/// The distance of each result from each direction is looked at once a generation.
Status Nsga::check_directions() const {
  const std::size_t objectives = context().objectives.size();
  std::size_t most = options_.divisions;
  while (most > 0 && detail::reference_count(objectives, most) > detail::max_references)
    --most;
  if (most == options_.divisions)
    return ok();
  return Error(ErrorCode::invalid_argument,
               "the searcher nsga3, option divisions = " + std::to_string(options_.divisions) +
                   ": with " + std::to_string(objectives) + " objectives there are more than " +
                   std::to_string(detail::max_references) + " reference directions; " +
                   (most > 0 ? "it is at most " + std::to_string(most) + " here"
                             : std::string("use nsga2 for so many objectives")));
}

/// Each as likely for NSGA-III, whose survivors are spread already; otherwise the one of two that
/// has the better rank, among equals that which survived longer. (The more distant one instead
/// gives less volume up to some 1,000 trials of ZDT1 and ZDT2 and a few per cent more beyond.)
const Point& Nsga::parent(Random& random) const {
  std::size_t chosen = static_cast<std::size_t>(random.below(parents_.size()));
  if (!niches_)
    chosen = std::min(chosen, static_cast<std::size_t>(random.below(parents_.size())));
  return history().find(TrialId(parents_[chosen]))->point;
}

Result<ModelSearcher::Proposal> Nsga::propose(TrialId trial, std::uint32_t attempt) const {
  if (parents_.empty())
    return Proposal{.point = random_point(trial, attempt)};
  constexpr int max_children = 20;
  Random numbers = random(trial, attempt);
  const detail::FailureMap failures(design(), history());
  Point born = child(numbers);
  for (int i = 1; i < max_children && failures.near(born); ++i)
    born = child(numbers);
  return Proposal{.point = std::move(born)};
}

Point Nsga::child(Random& numbers) const {
  Point child = parent(numbers);
  if (numbers.chance(options_.crossover_probability)) {
    std::array<const Point*, 3> parents{};
    const std::size_t count = detail::parents_of(options_.crossover);
    for (std::size_t i = 0; i < count; ++i)
      for (int draw = 0; draw < 10; ++draw) {  // different ones, if there are
        parents[i] = &parent(numbers);
        if (std::find(parents.begin(), parents.begin() + static_cast<std::ptrdiff_t>(i),
                      parents[i]) == parents.begin() + static_cast<std::ptrdiff_t>(i))
          break;
      }
    child = detail::crossed(design(), {parents.data(), count}, options_,
                            context().objectives.size(), numbers);
  }
  detail::mutate(design(), child, options_, numbers);
  // What did not exist in any parent may exist in the child.
  for (std::size_t i = 0; i < child.size(); ++i)
    if (!detail::exists(child[i]))
      child[i] = design().axes()[i].from_uniform(numbers.uniform());
  return design().canonical(std::move(child));
}

void Nsga::observed(const Observation& observation) {
  if (!observation.over())
    return;
  pool_.push_back(observation.trial.value);
  if (pool_.size() >= options_.population)
    select();
}

void Nsga::select() {
  Trials all = std::exchange(parents_, {});
  all.insert(all.end(), pool_.begin(), pool_.end());
  pool_.clear();
  const std::size_t objectives = context().objectives.size();
  // What was stopped early or failed is infeasible, more so than whatever violates a constraint
  // less than its place in that order.
  std::vector<const Observation*> members;
  std::vector<const Observation*> worse;
  for (const std::uint32_t trial : all) {
    members.push_back(history().find(TrialId(trial)));
    if (members.back()->state != Observation::State::complete || !members.back()->feasible())
      worse.push_back(members.back());
  }
  std::stable_sort(worse.begin(), worse.end(), [](const Observation* a, const Observation* b) {
    return detail::better(*a, *b);
  });
  std::vector<detail::Losses> losses;
  std::vector<double> violations;
  for (const Observation* member : members) {
    losses.push_back(member->losses.size() == objectives
                         ? member->losses
                         : detail::Losses(objectives, detail::infinity));
    const auto place = std::find(worse.begin(), worse.end(), member);
    violations.push_back(place == worse.end() ? 0.0
                                              : 1 + static_cast<double>(place - worse.begin()));
  }
  ++generation_;
  Random numbers(context().seed, static_cast<std::uint64_t>(generation_), RandomPurpose::searcher,
                 selection_counter);
  const auto kept = niches_
                        ? detail::survivors_by_niche(losses, violations, options_.population,
                                                     options_.divisions, numbers)
                        : detail::survivors_by_crowding(losses, violations, options_.population);
  // A trial that failed says nothing worth passing on, and its children fail where it did: it is a
  // parent only where there are hardly any others.
  const auto failed = [&](std::size_t i) { return !members[i]->valued(); };
  const auto others =
      kept.size() - static_cast<std::size_t>(std::count_if(kept.begin(), kept.end(), failed));
  const bool enough = others >= std::max<std::size_t>(2, options_.population / 5);
  for (const std::size_t i : kept)
    if (!enough || !failed(i))
      parents_.push_back(all[i]);
}

Value Nsga::save_model() const {
  return Map{{"generation", generation_},
             {"parents", List(parents_.begin(), parents_.end())},
             {"pool", List(pool_.begin(), pool_.end())}};
}

/// Of trials that are over, none of which is in `seen` already.
std::optional<Nsga::Trials> Nsga::trials_of(const Value& state, std::string_view key,
                                            std::set<std::uint32_t>& seen) const {
  const List* list = detail::find_list(state, key);
  if (list == nullptr)
    return std::nullopt;
  Trials trials;
  for (const Value& element : *list) {
    const auto trial = detail::trial_of(element);
    const Observation* found = trial ? history().find(*trial) : nullptr;
    if (found == nullptr || !found->over() || !seen.insert(trial->value).second)
      return std::nullopt;
    trials.push_back(trial->value);
  }
  return trials;
}

Status Nsga::restore_model(const Value& state) {
  std::set<std::uint32_t> seen;
  auto parents = trials_of(state, "parents", seen);
  auto pool = trials_of(state, "pool", seen);
  const auto generation = detail::find_count(state, "generation", history().over());
  if (!parents || !pool || !generation || (*generation == 0) != parents->empty() ||
      pool->size() >= options_.population)
    return detail::incomplete_state(name());
  generation_ = static_cast<std::int64_t>(*generation);
  parents_ = std::move(*parents);
  pool_ = std::move(*pool);
  return ok();
}

}  // namespace

std::shared_ptr<Searcher> nsga2(NsgaOptions options) {
  return std::make_shared<Nsga>(options, false);
}

std::shared_ptr<Searcher> nsga3(NsgaOptions options) {
  return std::make_shared<Nsga>(options, true);
}

Result<NsgaOptions> nsga_options(const std::string& searcher, const Value& options) {
  NsgaOptions read;
  detail::OptionReader reader(searcher, options);
  reader.read("population", read.population, 2, 100'000);
  reader.read("crossover", read.crossover, crossover_names);
  reader.read("crossover_probability", read.crossover_probability, 0, 1);
  reader.read("swap_probability", read.swap_probability, 0, 1);
  reader.read("mutation", read.mutation, mutation_names);
  reader.read("mutation_probability", read.mutation_probability, 0, 1);
  reader.read("divisions", read.divisions, 1, 1000);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return read;
}

}  // namespace troupe::tune
