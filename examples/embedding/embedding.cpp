// Troupe inside a service that has its own CAF actor system: the service goes on answering while
// two searches run, one on threads of this process and one in processes of their own.

#include <troupe/actors/embed.hpp>
#include <troupe/tune.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/init_global_meta_objects.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/type_id.hpp>

namespace tune = troupe::tune;
using namespace std::chrono_literals;

// -- the service, which knows nothing of Troupe ---------------------------------------------------

// [service]
struct Order {
  double price = 0;
  std::int64_t pieces = 0;
};

template <class Inspector>
bool inspect(Inspector& f, Order& x) {
  return f.object(x).fields(f.field("price", x.price), f.field("pieces", x.pieces));
}

CAF_BEGIN_TYPE_ID_BLOCK(shop, caf::first_custom_type_id)
CAF_ADD_TYPE_ID(shop, (Order))
CAF_END_TYPE_ID_BLOCK(shop)

caf::behavior shop(caf::event_based_actor*) {
  return {[](const Order& order) { return order.price * static_cast<double>(order.pieces); }};
}
// [/service]

// -- what is tuned --------------------------------------------------------------------------------

// [tuned]
/// Finds the price at which a made-up demand earns most: 50 pieces less for each unit of price.
class Revenue : public tune::Trainable {
public:
  void setup(const troupe::Config& config) override { price_ = config.at("price").as_double(); }
  troupe::Metrics step() override {
    return {{"revenue", price_ * (1000 - 50 * price_)}, {"done", ++steps_ == 20}};
  }
  bool reset_config(const troupe::Config& config) override {
    setup(config);
    steps_ = 0;
    return true;
  }

private:
  double price_ = 0;
  int steps_ = 0;
};
TROUPE_TRAINABLE(Revenue);

double best_price(troupe::Runtime& runtime, troupe::Isolation isolation) {
  const auto results = tune::Tuner(runtime, "Revenue",
                                   {.param_space = {{"price", tune::uniform(1, 20)}},
                                    .tune_config = {.metric = "revenue",
                                                    .num_samples = 200,
                                                    .reuse_actors = true,
                                                    .seed = 7},
                                    .run_config = {.isolation = isolation, .verbose = 0}})
                           .fit();
  return results.best_result().config.at("price").as_double();
}
// [/tuned]

// [together]
/// Searches on a thread of its own and asks the service meanwhile, as its customers would.
void search(caf::actor_system& system, const caf::actor& service, troupe::Runtime& runtime,
            troupe::Isolation isolation, const std::string& name) {
  auto price = std::async(std::launch::async, [&] { return best_price(runtime, isolation); });
  caf::scoped_actor customer{system};
  int answers = 0;
  do {
    customer->request(service, 5s, Order{2.5, 4})
        .receive([&](double total) { answers += total == 10.0 ? 1 : 0; },
                 [&](const caf::error& error) {
                   throw std::runtime_error("the service does not answer: " + to_string(error));
                 });
  } while (price.wait_for(1ms) != std::future_status::ready);
  std::cout << name << ": best price " << price.get() << ", and the service answered " << answers
            << " orders meanwhile\n";
}

void serve(caf::actor_system& system) {
  const caf::actor service = system.spawn(shop);
  {
    troupe::Runtime runtime(system);
    search(system, service, runtime, troupe::Isolation::thread, "threads");
    search(system, service, runtime, troupe::Isolation::process, "processes");
  }
  caf::anon_send_exit(service, caf::exit_reason::user_shutdown);
}

int main(int argc, char** argv) {
  troupe::run_worker_if_asked(argc, argv);  // worker processes are this program, started again
  caf::core::init_global_meta_objects();
  caf::io::middleman::init_global_meta_objects();
  caf::init_global_meta_objects<caf::id_block::shop>();
  troupe::embed::init_meta_objects();
  try {
    caf::actor_system_config config;
    troupe::embed::configure(config);
    caf::actor_system system{config};
    serve(system);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
// [/together]
