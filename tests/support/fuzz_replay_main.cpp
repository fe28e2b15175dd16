// The main program of a fuzz target where libFuzzer is not in use: it feeds each file of the corpus
// to the target whole, cut short at every length, and with every bit flipped, within a bound.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t variants_max = 20'000;

Bytes read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Copies, so that a read behind the end is one behind the end of an allocation.
void feed(const Bytes& bytes, std::size_t size) {
  const Bytes input(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

std::size_t replay(Bytes bytes) {
  feed(bytes, bytes.size());
  const std::size_t cuts = std::min(bytes.size(), variants_max);
  for (std::size_t size = 0; size < cuts; ++size) {
    feed(bytes, size);
  }
  const std::size_t flips = std::min(bytes.size() * 8, variants_max);
  for (std::size_t bit = 0; bit < flips; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
    bytes[bit / 8] ^= mask;
    feed(bytes, bytes.size());
    bytes[bit / 8] ^= mask;
  }
  return 1 + cuts + flips;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      if (entry.is_regular_file()) {
        inputs += replay(read(entry.path()));
      }
    }
  }
  std::printf("%zu inputs\n", inputs);
  if (inputs == 0) {
    std::fprintf(stderr, "no corpus: name a folder with at least one file\n");
    return 1;
  }
  return 0;
}
