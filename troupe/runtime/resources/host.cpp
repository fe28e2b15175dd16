#include <troupe/base/file.hpp>
#include <troupe/runtime/resources/host.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace troupe {

namespace fs = std::filesystem;

namespace {

constexpr size_t max_proc_bytes = size_t{4} << 20;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int64_t> to_integer(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \n") + 1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::optional<int64_t> read_integer(const fs::path& path) {
  const auto text = read_file(path, 4096);
  return text ? to_integer(*text) : std::nullopt;
}

// One mounted control group hierarchy and where this process is in it.
struct ControlGroup {
  bool unified = false;  ///< version 2
  fs::path mount;
  fs::path folder;
};

struct Mount {
  fs::path root;
  fs::path point;
  std::string_view type;
  std::string_view options;
};

// "36 35 98:0 /root /point rw,noatime master:1 - type source options"
std::optional<Mount> parse_mount(std::string_view line) {
  const size_t dash = line.find(" - ");
  if (dash == std::string_view::npos)
    return std::nullopt;
  const auto front = split(line.substr(0, dash), ' ');
  const auto back = split(line.substr(dash + 3), ' ');
  if (front.size() < 6 || back.size() < 3)
    return std::nullopt;
  return Mount{fs::path(front[3]), fs::path(front[4]), back[0], back[2]};
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Where the path of the process in the hierarchy is seen under the mount. Inside a container the
// two need not have anything in common; then the mount itself is the best we have.
fs::path folder_below(const Mount& mount, const fs::path& path) {
  const fs::path relative = path.lexically_relative(mount.root);
  if (relative.empty() || *relative.begin() == "..")
    return mount.point;
  return (mount.point / relative).lexically_normal();
}

// The hierarchies that have `controller`, as this process sees them.
std::vector<ControlGroup> find_groups(const fs::path& root, std::string_view controller) {
  std::vector<ControlGroup> groups;
  const auto mounts = read_file(root / "proc/self/mountinfo", max_proc_bytes);
  const auto members = read_file(root / "proc/self/cgroup", max_proc_bytes);
  if (!mounts || !members)
    return groups;
  for (const std::string_view line : split(*mounts, '\n')) {
    const auto mount = parse_mount(line);
    if (!mount)
      continue;
    const bool unified = mount->type == "cgroup2";
    if (!unified && (mount->type != "cgroup" || !has_word(mount->options, controller)))
      continue;
    for (const std::string_view member : split(*members, '\n')) {
      // "4:cpu,cpuacct:/path", or "0::/path" for version 2.
      const auto fields = split(member, ':');
      if (fields.size() < 3)
        continue;
      const bool match =
          unified ? fields[0] == "0" && fields[1].empty() : has_word(fields[1], controller);
      if (!match)
        continue;
      const fs::path path(member.substr(fields[0].size() + fields[1].size() + 2));
      const fs::path below = root / mount->point.relative_path();
      groups.push_back({unified, below, root / folder_below(*mount, path).relative_path()});
    }
  }
  return groups;
}

// Calls `look` with the group's folder and each of its ancestors: a limit of any of them holds.
template <class Look>
void for_each_level(const ControlGroup& group, Look look) {
  for (fs::path folder = group.folder;; folder = folder.parent_path()) {
    look(folder);
    if (folder == group.mount || !folder.has_relative_path())
      return;
  }
}

double cpu_quota(const fs::path& root) {
  double quota = INFINITY;
  for (const ControlGroup& group : find_groups(root, "cpu")) {
    for_each_level(group, [&](const fs::path& folder) {
      std::optional<int64_t> allowed;
      std::optional<int64_t> period;
      if (group.unified) {
        const auto text = read_file(folder / "cpu.max", 4096);
        const auto words = split(text ? std::string_view(*text) : std::string_view(), ' ');
        if (words.size() == 2) {
          allowed = to_integer(words[0]);  // or "max"
          period = to_integer(words[1]);
        }
      } else {
        allowed = read_integer(folder / "cpu.cfs_quota_us");  // or -1
        period = read_integer(folder / "cpu.cfs_period_us");
      }
      if (allowed && period && *allowed > 0 && *period > 0)
        quota = std::min(quota, static_cast<double>(*allowed) / static_cast<double>(*period));
    });
  }
  return quota;
}

uint64_t memory_limit(const fs::path& root, uint64_t total) {
  uint64_t limit = total;
  for (const ControlGroup& group : find_groups(root, "memory")) {
    for_each_level(group, [&](const fs::path& folder) {
      const auto bytes =
          read_integer(folder / (group.unified ? "memory.max" : "memory.limit_in_bytes"));
      if (bytes && *bytes > 0)
        limit = limit == 0 ? static_cast<uint64_t>(*bytes)
                           : std::min(limit, static_cast<uint64_t>(*bytes));
    });
  }
  return limit;
}

uint64_t total_memory(const fs::path& root) {
  const auto text = read_file(root / "proc/meminfo", max_proc_bytes);
  if (!text)
    return 0;
  for (const std::string_view line : split(*text, '\n')) {
    if (!line.starts_with("MemTotal:") || !line.ends_with(" kB"))
      continue;
    const size_t digits = line.find_first_of("0123456789");
    if (digits == std::string_view::npos)
      continue;
    const auto kib = to_integer(line.substr(digits, line.size() - 3 - digits));
    return kib ? static_cast<uint64_t>(*kib) * 1024 : 0;
  }
  return 0;
}

double allowed_cpus() {
  // The kernel refuses a mask smaller than its own; no machine has more than this many CPUs.
  constexpr int most = 8192;
  cpu_set_t* set = CPU_ALLOC(most);
  const size_t bytes = CPU_ALLOC_SIZE(most);
  int count = 0;
  if (set != nullptr && ::sched_getaffinity(0, bytes, set) == 0)
    count = CPU_COUNT_S(bytes, set);
  CPU_FREE(set);
  if (count <= 0)
    count = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(count, 1);
}

}  // namespace

HostResources detect_host_resources(const fs::path& root) {
  HostResources host;
  host.cpus = std::max(1.0, std::min(allowed_cpus(), std::ceil(cpu_quota(root))));
  host.memory_bytes = memory_limit(root, total_memory(root));
  return host;
}

}  // namespace troupe
