#pragma once

#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/schedule/fifo.hpp>
#include <troupe/tune/search/auto_searcher.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/bohb.hpp>
#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/importance.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/optimizer.hpp>
#include <troupe/tune/search/pareto.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/space.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/search/wrappers.hpp>
#include <troupe/tune/study/study.hpp>

/// Search algorithms and schedulers without trials, workers, journal and actors, for a loop of your
/// own: `#include <troupe/algorithms.hpp>`, link `troupe::algorithms`. Start at `tune::Optimizer`.
