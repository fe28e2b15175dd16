#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/schedule/fifo.hpp>

namespace troupe::tune {
namespace {

/// The options as `Asha::options` writes them; throws Exception for anything else.
AshaOptions asha_options(const Map& map) {
  AshaOptions o;
  o.time_attr = map.at("time_attr").as_string();
  o.max_t = map.at("max_t").as_double();
  o.grace_period = map.at("grace_period").as_double();
  o.reduction_factor = map.at("reduction_factor").as_double();
  const std::int64_t brackets = map.at("brackets").as_int();
  if (brackets < 0 || brackets > 1'000'000)
    throw Exception(ErrorCode::out_of_range, "brackets");
  o.brackets = static_cast<std::uint32_t>(brackets);
  o.strict = map.at("strict").as_bool();
  o.metric = map.at("metric").as_string();
  if (const Value* mode = map.find_key("mode"))
    o.mode = mode->as_string() == "min" ? Mode::min : Mode::max;
  return o;
}

}  // namespace

Result<std::unique_ptr<Scheduler>> make_scheduler(const std::string& name, const Value& options) {
  try {
    if (name == "fifo")
      return std::unique_ptr<Scheduler>(std::make_unique<Fifo>());
    if (name == "asha")
      return std::unique_ptr<Scheduler>(std::make_unique<Asha>(asha_options(options.as_map())));
  } catch (const Exception& e) {
    return Error(ErrorCode::corrupt,
                 "the stored options of " + name + " are damaged: " + e.error().message());
  }
  return Error(ErrorCode::not_found,
               "the scheduler '" + name +
                   "' is not one of Troupe's own (asha, fifo): pass the "
                   "object that the experiment was made with, to Tuner::restore as "
                   "RestoreOptions.scheduler");
}

}  // namespace troupe::tune
