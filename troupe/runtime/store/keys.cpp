#include <troupe/runtime/store/keys.hpp>
#include <troupe/serialization/detail/record_codec.hpp>

TROUPE_DEFINE_RECORD(troupe::EventPointer);
TROUPE_DEFINE_RECORD(troupe::RowsDropped);

namespace troupe::keys {
namespace {

template <class Number>
void append(std::string& key, Number number) {
  for (int shift = static_cast<int>(sizeof(Number)) * 8 - 8; shift >= 0; shift -= 8)
    key.push_back(static_cast<char>((number >> shift) & 0xff));
}

std::uint64_t load(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes)
    number = (number << 8) | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

void append_u32(std::string& key, std::uint32_t number) {
  append(key, number);
}

void append_u64(std::string& key, std::uint64_t number) {
  append(key, number);
}

std::uint32_t load_u32(std::string_view bytes) {
  return static_cast<std::uint32_t>(load(bytes.substr(0, 4)));
}

std::uint64_t load_u64(std::string_view bytes) {
  return load(bytes.substr(0, 8));
}

std::string trial_key(TrialId trial) {
  std::string key;
  append_u32(key, trial.value);
  return key;
}

std::string result_key(TrialId trial, std::uint64_t iteration) {
  std::string key = trial_key(trial);
  append_u64(key, iteration);
  return key;
}

std::string checkpoint_key(TrialId trial, std::uint32_t number) {
  std::string key = trial_key(trial);
  append_u32(key, number);
  return key;
}

std::optional<TrialId> parse_trial_key(std::string_view key) {
  if (key.size() != 4)
    return std::nullopt;
  return TrialId(load_u32(key));
}

std::optional<ResultKey> parse_result_key(std::string_view key) {
  if (key.size() != 12)
    return std::nullopt;
  return ResultKey{TrialId(load_u32(key)), load_u64(key.substr(4))};
}

std::optional<CheckpointKey> parse_checkpoint_key(std::string_view key) {
  if (key.size() != 8)
    return std::nullopt;
  return CheckpointKey{TrialId(load_u32(key)), load_u32(key.substr(4))};
}

}  // namespace troupe::keys
