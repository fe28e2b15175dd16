// Writes the golden files into a folder: golden_serialization FOLDER. Files that are there already
// are left alone, so that a format can not change unnoticed.
#include <troupe/base/file.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/value_codec.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/golden/serialization/samples.hpp"

int main(int argc, char** argv) {
  using namespace troupe;
  if (argc != 2) {
    std::fprintf(stderr, "usage: golden_serialization FOLDER\n");
    return 2;
  }
  const std::string value_bytes = encode_value(golden_sample::value());
  const std::pair<const char*, std::string> files[] = {
      {"value.bin", value_bytes},
      {"value.json", to_json(golden_sample::value(), JsonStyle::pretty) + '\n'},
      {"envelope.bin", seal(golden_sample::envelope_type, 2, value_bytes)},
      {"row_v1.bin", golden_sample::row_bytes(1)},
      {"row_v2.bin", golden_sample::row_bytes(2)},
  };
  for (const auto& [name, bytes] : files) {
    const auto path = std::filesystem::path(argv[1]) / name;
    if (std::filesystem::exists(path))
      continue;
    if (const Status written = write_file_atomically(path, bytes); !written) {
      std::fprintf(stderr, "%s\n", written.error().message().c_str());
      return 1;
    }
  }
  return 0;
}
