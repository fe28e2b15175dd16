#include <troupe/runtime/resources/resource_ledger.hpp>

#include <cmath>

#include <doctest/doctest.h>

using namespace troupe;

namespace {
constexpr uint64_t gib = uint64_t{1} << 30;
ResourceRequest cpus(double count) {
  return {.cpus = count, .memory_bytes = 0};
}
}  // namespace

TEST_CASE("what is taken is not free until it is given back") {
  ResourceLedger ledger(cpus(4));
  CHECK(ledger.idle());
  CHECK(ledger.acquire(cpus(3)));
  CHECK(ledger.free().cpus == 1);
  CHECK_FALSE(ledger.acquire(cpus(2)));
  CHECK(ledger.acquire(cpus(1)));
  CHECK_FALSE(ledger.fits(cpus(0.0001)));
  CHECK(ledger.fits(cpus(0)));
  CHECK(ledger.release(cpus(3)));
  CHECK(ledger.fits(cpus(3)));
  CHECK(ledger.release(cpus(1)));
  CHECK(ledger.idle());
}

TEST_CASE("fractions add up exactly") {
  ResourceLedger ledger(cpus(1));
  for (int i = 0; i < 10; ++i)
    CHECK(ledger.acquire(cpus(0.1)));
  CHECK(ledger.free().cpus == 0);
  CHECK_FALSE(ledger.acquire(cpus(0.1)));
  for (int i = 0; i < 10; ++i)
    CHECK(ledger.release(cpus(0.1)));
  CHECK(ledger.idle());
}

TEST_CASE("memory is counted when there is a capacity, else not") {
  ResourceLedger counted({.cpus = 8, .memory_bytes = 4 * gib});
  CHECK(counted.acquire({.cpus = 1, .memory_bytes = 3 * gib}));
  CHECK_FALSE(counted.acquire({.cpus = 1, .memory_bytes = 2 * gib}));
  CHECK(counted.why_not({.cpus = 1, .memory_bytes = 2 * gib}) ==
        "waits for memory: asks for 2 GiB, 1 GiB of 4 GiB are free");
  CHECK(counted.impossible({.cpus = 1, .memory_bytes = 5 * gib}) ==
        "a trial asks for 5 GiB of memory, but there is a total of 4 GiB");
  ResourceLedger free_for_all({.cpus = 8, .memory_bytes = 0});
  CHECK(free_for_all.acquire({.cpus = 1, .memory_bytes = 100 * gib}));
  CHECK(free_for_all.release({.cpus = 1, .memory_bytes = 100 * gib}));
}

TEST_CASE("a request that can never be granted is told from one that waits") {
  ResourceLedger ledger(cpus(8));
  REQUIRE(ledger.acquire(cpus(6)));
  CHECK(ledger.impossible(cpus(16)) == "a trial asks for 16 CPUs, but there is a total of 8 CPUs");
  CHECK(ledger.why_not(cpus(16)) == ledger.impossible(cpus(16)));
  CHECK_FALSE(ledger.impossible(cpus(4)));
  CHECK(ledger.why_not(cpus(4)) == "waits for CPUs: asks for 4 CPUs, 2 CPUs of 8 CPUs are free");
  CHECK_FALSE(ledger.why_not(cpus(2)));
}

TEST_CASE("how many more fit is bounded by each resource and by the caller") {
  const ResourceLedger ledger({.cpus = 8, .memory_bytes = 4 * gib});
  CHECK(ledger.how_many_fit(cpus(3), 100) == 2);
  CHECK(ledger.how_many_fit({.cpus = 1, .memory_bytes = gib}, 100) == 4);
  CHECK(ledger.how_many_fit(cpus(0), 100) == 100);
}

TEST_CASE("giving back what was not taken is refused") {
  ResourceLedger ledger(cpus(4));
  REQUIRE(ledger.acquire(cpus(1)));
  CHECK(ledger.release(cpus(2)).error().code() == ErrorCode::failed_precondition);
  CHECK(ledger.free().cpus == 3);
}

TEST_CASE("requests that are no numbers are refused") {
  CHECK(ResourceLedger::check(cpus(0)));
  CHECK(ResourceLedger::check(cpus(0.5)));
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL, 1e9, 0.00001})
    CHECK(ResourceLedger::check(cpus(bad)).error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("requests and sizes read well") {
  CHECK(to_string(cpus(1)) == "1 CPU");
  CHECK(to_string(ResourceRequest{.cpus = 0.5, .memory_bytes = 512 << 20}) ==
        "0.5 CPUs and 512 MiB of memory");
  CHECK(format_bytes(0) == "0 bytes");
  CHECK(format_bytes(1) == "1 byte");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(uint64_t{3} << 40) == "3 TiB");
}
