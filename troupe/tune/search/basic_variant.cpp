#include <troupe/base/crc32c.hpp>
#include <troupe/tune/search/basic_variant.hpp>

#include <set>
#include <string_view>

namespace troupe::tune {

std::unique_ptr<Searcher> BasicVariant::clone() const {
  return std::make_unique<BasicVariant>(*this);
}

Status BasicVariant::setup(const SearchContext& context) {
  TROUPE_RETURN_IF_ERROR(context.space.check());
  *this = BasicVariant();
  seed_ = context.seed;
  std::set<std::uint32_t> counters;
  for (const ParamSpace::Leaf& leaf : context.space.leaves()) {
    Plan plan{.path = leaf.path, .domain = std::nullopt};
    if (const Value* constant = leaf.entry->constant()) {
      constants_.set(leaf.path, *constant);
      continue;
    }
    plan.domain = *leaf.entry->domain();
    if (const auto* grid = std::get_if<Grid>(&plan.domain->kind())) {
      plan.stride = cells_;
      if (__builtin_mul_overflow(cells_, std::uint64_t{grid->values.size()}, &cells_))
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
  planned_ = planned(context);
  return ok();
}

std::optional<std::uint64_t> BasicVariant::planned(const SearchContext& context) const {
  std::uint64_t total = 0;
  if (!context.num_samples || __builtin_mul_overflow(*context.num_samples, cells_, &total))
    return std::nullopt;
  return total;
}

Config BasicVariant::variant(std::uint64_t index) const {
  Config config = constants_;
  for (const Plan& plan : plan_) {
    Value* place = config.find(plan.path);
    if (const auto* grid = std::get_if<Grid>(&plan.domain->kind())) {
      *place = grid->values[static_cast<std::size_t>(index / plan.stride % grid->values.size())];
    } else {
      Random random(seed_, index, RandomPurpose::sample_config, plan.counter);
      *place = plan.domain->sample(random);
    }
  }
  return config;
}

Result<Suggestion> BasicVariant::suggest(TrialId) const {
  if (planned_ && next_ >= *planned_)
    return Suggestion::exhausted();
  return Suggestion::of(variant(next_), next_);
}

void BasicVariant::record(TrialId, const Config&, const Value& note) {
  // Trials of another origin take no variant away.
  if (note.is_int())
    next_ = static_cast<std::uint64_t>(note.as_int()) + 1;
}

Value BasicVariant::save() const {
  return Map{{"next", next_}};
}

Status BasicVariant::restore(const Value& state) {
  const Map* map = state.get_if<Map>();
  const Value* next = map != nullptr ? map->find_key("next") : nullptr;
  if (next == nullptr || !next->is_int() || next->as_int() < 0)
    return Error(ErrorCode::corrupt, "the state of basic_variant lacks its position");
  next_ = static_cast<std::uint64_t>(next->as_int());
  return ok();
}

std::shared_ptr<Searcher> basic_variant() {
  return std::make_shared<BasicVariant>();
}

Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name, const Value& options) {
  if (name == "basic_variant" && options.is_null())
    return std::unique_ptr<Searcher>(std::make_unique<BasicVariant>());
  return Error(ErrorCode::not_found,
               "the searcher '" + name +
                   "' is not one of Troupe's own (basic_variant): pass the object that the "
                   "experiment was made with");
}

}  // namespace troupe::tune
