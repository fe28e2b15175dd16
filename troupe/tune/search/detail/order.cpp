#include <troupe/tune/search/detail/order.hpp>

namespace troupe::tune::detail {

OrderKey order_key(const Observation& o) {
  if (!o.valued())
    return {3, 0, 0};
  if (!o.feasible())
    return {2, o.violation, 0};  // a loss where nothing holds says nothing
  if (o.state == Observation::State::complete)
    return {0, o.losses[0], 0};
  return {1, -static_cast<double>(o.step), o.losses[0]};
}

}  // namespace troupe::tune::detail
