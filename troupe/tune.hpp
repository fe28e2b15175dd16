#pragma once

#include <troupe/actors/registry.hpp>
#include <troupe/actors/runtime.hpp>
#include <troupe/actors/session.hpp>
#include <troupe/actors/trainable.hpp>
#include <troupe/tune/config.hpp>
#include <troupe/tune/result_grid.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/schedule/fifo.hpp>
#include <troupe/tune/search/auto_searcher.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/bohb.hpp>
#include <troupe/tune/search/brute_force.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/domain.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/importance.hpp>
#include <troupe/tune/search/nsga.hpp>
#include <troupe/tune/search/pareto.hpp>
#include <troupe/tune/search/quasi_random.hpp>
#include <troupe/tune/search/random_search.hpp>
#include <troupe/tune/search/space.hpp>
#include <troupe/tune/search/tpe.hpp>
#include <troupe/tune/search/wrappers.hpp>
#include <troupe/tune/stop/stop.hpp>
#include <troupe/tune/tuner.hpp>

#include <iostream>  // configurations and results are made to be printed

/// All that a program needs to tune: `#include <troupe/tune.hpp>`.
namespace troupe::tune {

// What lives with the actors, because training without tuning needs it too.
using troupe::Checkpoint;
using troupe::Trainable;
using troupe::TrialContext;
using troupe::TrialStopped;

using troupe::get_checkpoint;
using troupe::get_context;
using troupe::report;
using troupe::should_stop;

}  // namespace troupe::tune
