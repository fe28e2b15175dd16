#include <troupe/base/file.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/storage/detail/staging.hpp>
#include <troupe/runtime/storage/detail/tree.hpp>

#include <charconv>

#include <unistd.h>

namespace troupe::detail {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view partial_suffix = ".partial";
constexpr std::string_view deleted_suffix = ".deleted";
constexpr std::string_view hidden_prefix = ".checkpoint_";

// When a process started, in clock ticks since boot; with its number it names one process. 0: none.
uint64_t process_start(int64_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!text)
    return 0;
  // The name in field 2 may hold anything; after its last bracket comes field 3. We want field 22.
  size_t place = text->rfind(')');
  for (int field = 2; field < 22 && place != std::string::npos; ++field)
    place = text->find(' ', place + 1);
  if (place == std::string::npos)
    return 0;
  uint64_t start = 0;
  std::from_chars(text->data() + place + 1, text->data() + text->size(), start);
  return start;
}

struct Writer {
  int64_t pid = 0;
  uint64_t start = 0;
};

// The writer in a name made by `staging_name`; pid 0 when it is not well formed.
Writer writer_of(std::string_view name) {
  Writer writer;
  name.remove_suffix(partial_suffix.size());
  const size_t second = name.rfind('.');
  const size_t first = second == 0 ? 0 : name.rfind('.', second - 1);
  if (first == std::string_view::npos || first == 0)
    return {};
  std::from_chars(name.data() + first + 1, name.data() + second, writer.pid);
  std::from_chars(name.data() + second + 1, name.data() + name.size(), writer.start);
  return writer;
}

bool is_leftover(std::string_view name) {
  if (!name.starts_with(hidden_prefix))
    return false;
  if (name.ends_with(deleted_suffix))
    return true;
  if (!name.ends_with(partial_suffix))
    return false;
  const Writer writer = writer_of(name);
  if (writer.pid <= 0 || writer.pid == ::getpid())
    return true;
  const uint64_t start = process_start(writer.pid);
  return start == 0 || start != writer.start;
}

}  // namespace

std::string staging_name(uint32_t number) {
  const uint64_t start = process_start(::getpid());
  return '.' + checkpoint_directory_name(number) + '.' + std::to_string(::getpid()) + '.' +
         std::to_string(start) + std::string(partial_suffix);
}

std::string deleted_name(uint32_t number) {
  return '.' + checkpoint_directory_name(number) + std::string(deleted_suffix);
}

Status remove_leftovers(const fs::path& trial_dir) {
  std::error_code error;
  for (fs::directory_iterator it(trial_dir, error), end; !error && it != end; it.increment(error)) {
    if (is_leftover(it->path().filename().string()))
      TROUPE_RETURN_IF_ERROR(remove_tree(it->path()));
  }
  if (error)
    return errno_error(error.value(), "cannot list the trial folder " + trial_dir.string());
  return ok();
}

std::optional<uint32_t> checkpoint_number(std::string_view directory_name) {
  const size_t digits = directory_name.rfind('_');
  uint32_t number = 0;
  if (digits == std::string_view::npos)
    return std::nullopt;
  std::from_chars(directory_name.data() + digits + 1, directory_name.data() + directory_name.size(),
                  number);
  // Made anew and compared, so that there is one spelling only.
  if (checkpoint_directory_name(number) != directory_name)
    return std::nullopt;
  return number;
}

}  // namespace troupe::detail
