#include <troupe/base/crc32c.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace troupe::tune {
namespace {

/// Cells are looked at one by one where conditions or constraints may take some away.
constexpr std::uint64_t max_selected_cells = 1'000'000;
constexpr std::uint32_t max_attempts = 1'000;
/// More than any domain draws at a time, nearly always; beyond, draws only overlap.
constexpr std::uint64_t numbers_per_attempt = 64;

std::uint64_t grid_index(std::uint64_t stride, const Domain& grid, std::uint64_t cell) {
  return cell / stride % (*grid.last_index() + 1);
}

/// Grids and constants whose existence and constraints depend on grids and constants alone, as one
/// flat space: what is the same in every sample.
ParamSpace systematic_part(const ParamSpace& space) {
  std::map<std::string, ParamSpace::Leaf> part;
  for (ParamSpace::Leaf& leaf : space.leaves())
    if (leaf.entry->domain() == nullptr || leaf.entry->domain()->is_grid()) {
      std::string path = leaf.path;
      part.emplace(std::move(path), std::move(leaf));
    }
  // Whoever depends on something that is drawn goes, and then whoever depends on that.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = part.begin(); it != part.end();) {
      const auto& conditions = it->second.conditions;
      const bool drawn = std::any_of(conditions.begin(), conditions.end(),
                                     [&](const Condition& c) { return !part.contains(c.parent); });
      it = drawn ? part.erase(it) : std::next(it);
      changed = changed || drawn;
    }
  }
  ParamSpace flat;
  for (const auto& [path, leaf] : part) {
    SpaceEntry entry = leaf.entry->domain() ? SpaceEntry(*leaf.entry->domain())
                                            : SpaceEntry(*leaf.entry->constant());
    for (const Condition& condition : leaf.conditions)
      entry.exists_when(condition);
    flat.add(path, std::move(entry));
  }
  for (const Constraint& constraint : space.constraints())
    if (std::all_of(constraint.paths.begin(), constraint.paths.end(),
                    [&](const std::string& path) { return part.contains(path); }))
      flat.require(constraint);
  for (const Map& combination : space.forbidden())
    if (std::all_of(combination.begin(), combination.end(),
                    [&](const Map::Entry& entry) { return part.contains(entry.first); }))
      flat.forbid(combination);
  return flat;
}

}  // namespace

std::unique_ptr<Searcher> BasicVariant::clone() const {
  return std::make_unique<BasicVariant>(*this);
}

Status BasicVariant::setup(const SearchContext& context) {
  TROUPE_RETURN_IF_ERROR(context.space.check());
  TROUPE_RETURN_IF_ERROR(detail::check_objectives(context.objectives, "SearchContext.objectives"));
  *this = BasicVariant();
  seed_ = context.seed;
  points_ = context.points_to_evaluate;
  if (context.num_samples && points_.size() > *context.num_samples)
    points_.resize(static_cast<std::size_t>(*context.num_samples));
  TROUPE_RETURN_IF_ERROR(read_space(context.space));
  if (detail::Design design(context.space); design.conditional() || design.constrained()) {
    design_ = std::move(design);
    TROUPE_RETURN_IF_ERROR(select_cells(context.space));
  }
  planned_ = planned(context);
  for (std::size_t i = 0; design_ && i < points_.size(); ++i)
    TROUPE_RETURN_IF_ERROR(variant(i));
  return ok();
}

Status BasicVariant::read_space(const ParamSpace& space) {
  std::set<std::uint32_t> counters;
  for (const ParamSpace::Leaf& leaf : space.leaves()) {
    Plan plan{.path = leaf.path, .domain = std::nullopt};
    if (const Value* constant = leaf.entry->constant()) {
      constants_.set(leaf.path, *constant);
      continue;
    }
    plan.domain = *leaf.entry->domain();
    if (const auto* grid = std::get_if<Grid>(&plan.domain->kind())) {
      plan.stride = all_cells_;
      if (__builtin_mul_overflow(all_cells_, std::uint64_t{grid->values.size()}, &all_cells_))
        return Error(ErrorCode::invalid_argument,
                     "param_space: the grids together have more than 2^64 cells; use choice for "
                     "some of them");
    } else {
      plan.counter = crc32c(leaf.path);
      while (!counters.insert(plan.counter).second)
        ++plan.counter;
    }
    constants_.set(leaf.path, Value());
    plan_.push_back(std::move(plan));
  }
  return ok();
}

Status BasicVariant::select_cells(const ParamSpace& space) {
  if (all_cells_ == 1)
    return ok();
  if (all_cells_ > max_selected_cells)
    return Error(ErrorCode::invalid_argument,
                 "param_space: the grids together have " + std::to_string(all_cells_) +
                     " cells; with conditions or constraints at most " +
                     std::to_string(max_selected_cells) + " are possible; use choice for some");
  const detail::Design design(systematic_part(space));
  std::vector<const Plan*> grids;
  for (const Plan& plan : plan_)
    for (const auto& [path, entry] : design.space().entries())
      if (path == plan.path)
        grids.push_back(&plan);
  std::vector<std::uint64_t> selected;
  for (std::uint64_t cell = 0; cell < all_cells_; ++cell) {
    Config given;
    for (const Plan* grid : grids)
      given.set(grid->path, grid->domain->at(grid_index(grid->stride, *grid->domain, cell)));
    const Config config = design.complete(given, seed_, 0, 0);
    const bool repeats = std::any_of(grids.begin(), grids.end(), [&](const Plan* grid) {
      return config.find(grid->path) == nullptr &&
             grid_index(grid->stride, *grid->domain, cell) != 0;
    });
    if (!repeats && design.allowed(config))
      selected.push_back(cell);
  }
  if (selected.empty())
    return Error(ErrorCode::invalid_argument,
                 "param_space: no cell of the grid satisfies the constraints");
  selected_ = std::move(selected);
  return ok();
}

std::optional<std::uint64_t> BasicVariant::planned(const SearchContext& context) const {
  std::uint64_t total = 0;
  if (!context.num_samples ||
      __builtin_mul_overflow(*context.num_samples - points_.size(), cells(), &total) ||
      __builtin_add_overflow(total, points_.size(), &total))
    return std::nullopt;
  return total;
}

Config BasicVariant::draw(std::uint64_t index, std::uint32_t attempt) const {
  Config config = constants_;
  const bool given = index < points_.size();
  // Of grids a point takes the first values that suit it.
  std::uint64_t cell = given ? attempt : index - points_.size();
  if (selected_)
    cell = (*selected_)[static_cast<std::size_t>(cell % selected_->size())];
  for (const Plan& plan : plan_) {
    Value* place = config.find(plan.path);
    const Value* wanted = given ? points_[index].find(plan.path) : nullptr;
    if (wanted != nullptr) {
      *place = plan.domain->adopt(*wanted).value_or(*wanted);
    } else if (plan.stride != 0) {
      *place = plan.domain->at(grid_index(plan.stride, *plan.domain, cell));
    } else {
      Random random(seed_, index, RandomPurpose::sample_config, plan.counter);
      random.seek(std::uint64_t{attempt} * numbers_per_attempt);
      *place = plan.domain->sample(random);
    }
  }
  return design_ ? design_->complete(config, seed_, index, 0) : config;
}

ParamSpace BasicVariant::rules_for(const Config& point) const {
  Config alone;
  for (const ParamSpace::Leaf& leaf : design_->space().leaves())
    if (const Value* constant = leaf.entry->constant())
      alone.set(leaf.path, *constant);
    else if (const Value* value = point.find(leaf.path))
      alone.set(leaf.path, leaf.entry->adopt(*value).value_or(*value));
  return design_->space().without_rules_broken_by(alone);
}

Result<Config> BasicVariant::variant(std::uint64_t index) const {
  if (!design_)
    return draw(index, 0);
  const bool given = index < points_.size();
  // What the user wants to see tried is tried, whatever the rules say of it.
  const ParamSpace rules = given ? rules_for(points_[index]) : ParamSpace();
  const ParamSpace& space = given ? rules : design_->space();
  const std::uint64_t attempts =
      given ? std::max<std::uint64_t>(max_attempts, cells()) : max_attempts;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    Config config = draw(index, static_cast<std::uint32_t>(attempt));
    if (space.allows(config))
      return config;
  }
  const Config last = draw(index, static_cast<std::uint32_t>(attempts - 1));
  return Error(ErrorCode::invalid_argument,
               (given ? "points_to_evaluate[" + std::to_string(index) + "]: " : std::string()) +
                   std::to_string(attempts) +
                   " draws in a row broke a rule of param_space, the last one '" +
                   space.broken_rule(last).value_or("") +
                   "'; loosen the constraints, or choose ranges that satisfy them more often");
}

Result<Suggestion> BasicVariant::suggest(TrialId) const {
  if (planned_ && next_ >= *planned_)
    return Suggestion::exhausted();
  TROUPE_TRY(config, variant(next_));
  return Suggestion::of(std::move(config), next_);
}

void BasicVariant::record(TrialId, const Config&, const Value& note) {
  // Trials of another origin take no variant away.
  if (const auto index = detail::count_of(note, detail::most_trials - 1))
    next_ = *index + 1;
}

Value BasicVariant::save() const {
  return Map{{"next", next_}};
}

Status BasicVariant::restore(const Value& state) {
  const auto next = detail::find_count(state, "next", detail::most_trials);
  if (!next || state.as_map().size() != 1)
    return Error(ErrorCode::corrupt,
                 "the state of the searcher basic_variant has no position that it can be at");
  next_ = *next;
  return ok();
}

std::shared_ptr<Searcher> basic_variant() {
  return std::make_shared<BasicVariant>();
}

}  // namespace troupe::tune
