#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/detail/cmaes_searcher.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>

#include <string_view>
#include <vector>

namespace troupe::tune {
namespace {

const std::vector<std::string_view> restart_names{"none", "ipop", "bipop"};
const std::vector<std::string_view> covariance_names{"automatic", "full", "diagonal"};

}  // namespace

std::shared_ptr<Searcher> cmaes(CmaEsOptions options) {
  return std::make_shared<detail::CmaEsSearcher>(options);
}

Value detail::CmaEsSearcher::options() const {
  return Map{{"restarts", option_name(options_.restarts, restart_names)},
             {"covariance", option_name(options_.covariance, covariance_names)},
             {"population", options_.population},
             {"sigma", options_.sigma},
             {"adapt_learning_rate", options_.adapt_learning_rate},
             {"surrogate", options_.surrogate}};
}

Result<CmaEsOptions> cmaes_options(const Value& options) {
  CmaEsOptions cma;
  detail::OptionReader reader("cmaes", options);
  reader.read("restarts", cma.restarts, restart_names);
  reader.read("covariance", cma.covariance, covariance_names);
  reader.read("population", cma.population, 0, 10'000);
  reader.read("sigma", cma.sigma, 1e-6, 10);
  reader.read("adapt_learning_rate", cma.adapt_learning_rate);
  reader.read("surrogate", cma.surrogate);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  if (cma.population == 1)
    return Error(ErrorCode::invalid_argument,
                 "the searcher cmaes, option population = 1: it must be 0 (chosen by the number of "
                 "parameters) or at least 2");
  return cma;
}

}  // namespace troupe::tune
