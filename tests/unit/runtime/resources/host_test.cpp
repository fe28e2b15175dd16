#include <troupe/runtime/resources/host.hpp>

#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sched.h>

#include "tests/support/scratch_folder.hpp"

using namespace troupe;
namespace fs = std::filesystem;

namespace {

// A machine made of files.
class FakeRoot {
public:
  FakeRoot() { put("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000 kB\n"); }
  void put(const std::string& name, const std::string& text) {
    fs::create_directories((scratch_.path() / name).parent_path());
    std::ofstream(scratch_.path() / name) << text;
  }
  HostResources detect() const { return detect_host_resources(scratch_.path()); }

private:
  testing::ScratchFolder scratch_{"host"};
};

constexpr uint64_t gib = uint64_t{1} << 30;

double affinity() {
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

}  // namespace

TEST_CASE("without control groups the machine is the limit") {
  const FakeRoot root;
  CHECK(root.detect().cpus == affinity());
  CHECK(root.detect().memory_bytes == 16 * gib);
}

TEST_CASE("limits of version 2 hold, those of ancestors too") {
  FakeRoot root;
  root.put("proc/self/mountinfo",
           "30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  root.put("proc/self/cgroup", "0::/user/job\n");
  root.put("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  root.put("sys/fs/cgroup/user/job/memory.max", "max\n");
  root.put("sys/fs/cgroup/user/cpu.max", "90000 100000\n");
  root.put("sys/fs/cgroup/user/memory.max", "2147483648\n");
  CHECK(root.detect().cpus == 1);
  CHECK(root.detect().memory_bytes == 2 * gib);
}

TEST_CASE("limits of version 1 hold, each in its own hierarchy") {
  FakeRoot root;
  root.put("proc/self/mountinfo",
           "31 20 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
           "32 20 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  root.put("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b\n");
  root.put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "100000\n");
  root.put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  root.put("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "1073741824\n");
  root.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(root.detect().cpus == 1);
  CHECK(root.detect().memory_bytes == gib);
}

TEST_CASE("no quota is no limit") {
  FakeRoot root;
  root.put("proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  root.put("proc/self/cgroup", "5:cpu:/\n");
  root.put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(root.detect().cpus == affinity());
}

TEST_CASE("inside a container, whose path is not visible, the mount itself is looked at") {
  FakeRoot root;
  root.put("proc/self/mountinfo", "30 20 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  root.put("proc/self/cgroup", "0::/\n");
  root.put("sys/fs/cgroup/memory.max", "1073741824\n");
  CHECK(root.detect().memory_bytes == gib);
}

TEST_CASE("files that make no sense limit nothing") {
  FakeRoot root;
  root.put("proc/self/mountinfo",
           "\n - \nx - cgroup2\n30 20 0:26 / /sys/fs/cgroup rw - cgroup2 c rw");
  root.put("proc/self/cgroup", "\n:::\n0::/a");
  root.put("sys/fs/cgroup/a/cpu.max", "many few\n");
  root.put("sys/fs/cgroup/a/memory.max", "-5\n");
  root.put("proc/meminfo", "MemTotal: lots kB\n");
  CHECK(root.detect().cpus == affinity());
  CHECK(root.detect().memory_bytes == 0);
}

TEST_CASE("this machine has at least one CPU and some memory") {
  const HostResources host = detect_host_resources();
  CHECK(host.cpus >= 1);
  CHECK(host.memory_bytes > 64 << 20);
}
