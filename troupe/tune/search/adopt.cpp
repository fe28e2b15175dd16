#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/space.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

// Values that a person or a file gives, in the form that a space gives them.

namespace troupe::tune {
namespace {

Error outside(const Domain& domain, const std::string& why) {
  return Error(ErrorCode::invalid_argument,
               "it does not lie in " + domain.to_string() + (why.empty() ? "" : ": " + why));
}

/// A range without steps.
Result<Value> adopt_real(const Domain& domain, double low, double high, double given) {
  if (given == high)
    return Value(std::nextafter(high, low));  // the same where both are equal
  if (domain.contains(given))
    return Value(given);
  return outside(domain, "");
}

Result<Value> adopt_step(const Domain& domain, const Uniform& d, double given) {
  const double index = std::floor((given - d.low) / d.step + 0.5);
  if (!(index >= 0 && index <= static_cast<double>(*domain.last_index())))
    return outside(domain, "");
  Value nearest = domain.at(static_cast<std::uint64_t>(index));
  const double rounding =
      4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(d.low), std::abs(d.high));
  if (std::abs(nearest.as_double() - given) > std::max(1e-9 * d.step, rounding))
    return outside(domain, "it is no step of it; the nearest one is " + to_json(nearest));
  return nearest;
}

Result<Value> adopt_integer(const Domain& domain, const RandInt& d, const Value& given) {
  if (domain.contains(given))
    return given;
  if (!given.is_int())
    return outside(domain, "a whole number is wanted (types count: write 1, not 1.0 or \"1\")");
  if (d.step == 1 && d.high != INT64_MAX && given.as_int() == d.high + 1)
    return outside(domain, "the upper end is not included");
  const bool between = given.as_int() > d.low && given.as_int() < d.high;
  return outside(domain, between ? "it is no step of it" : "");
}

}  // namespace

Result<Value> Domain::adopt(const Value& given) const {
  const auto* reals = std::get_if<Uniform>(&kind_);
  const auto* logarithmic = std::get_if<LogUniform>(&kind_);
  if (reals != nullptr || logarithmic != nullptr) {
    if (!given.is_number())
      return outside(*this, "a number is wanted");
    if (logarithmic != nullptr)
      return adopt_real(*this, logarithmic->low, logarithmic->high, given.as_double());
    return reals->step != 0 ? adopt_step(*this, *reals, given.as_double())
                            : adopt_real(*this, reals->low, reals->high, given.as_double());
  }
  if (const auto* integers = std::get_if<RandInt>(&kind_))
    return adopt_integer(*this, *integers, given);
  if (contains(given))
    return given;
  return outside(*this, "it is none of its values (types count: 1, 1.0 and \"1\" are different)");
}

Result<Value> SpaceEntry::adopt(const Value& given) const {
  if (const Domain* domain = this->domain())
    return domain->adopt(given);
  const Value* constant = this->constant();
  if (constant != nullptr && *constant == given)
    return given;
  return Error(ErrorCode::invalid_argument, constant == nullptr
                                                ? std::string("it is a space inside of the space")
                                                : "it is always " + to_json(*constant));
}

}  // namespace troupe::tune
