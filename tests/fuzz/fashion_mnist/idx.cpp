// The files of Fashion-MNIST. The first byte says which of the two the rest is; the other one fits
// one image. They are either read as what their header says, or refused by name.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <stdlib.h>

#include "examples/fashion_mnist/images.hpp"

namespace {

namespace fs = std::filesystem;

class Folder {
public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "troupe-idx-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      std::abort();
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }

  void write(const char* kind, std::string_view bytes) const {
    std::ofstream out(path_ / (std::string("t10k-") + kind + "-ubyte.gz"), std::ios::binary);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      std::abort();
  }

private:
  fs::path path_;
};

/// Of one image. zlib reads what is not compressed as it is.
std::string images_of_one() {
  using namespace std::string_literals;
  return "\0\0\x08\x03\0\0\0\x01\0\0\0\x1c\0\0\0\x1c"s + std::string(fashion::image_pixels, '\x7f');
}
std::string labels_of_one() {
  using namespace std::string_literals;
  return "\0\0\x08\x01\0\0\0\x01\x05"s;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0)
    return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool labels = data[0] == 'l';
  folder.write("images-idx3", labels ? std::string_view(images_of_one()) : rest);
  folder.write("labels-idx1", labels ? rest : std::string_view(labels_of_one()));
  try {
    const fashion::Images images = fashion::read_images(folder.path(), "t10k");
    if (images.count() < 1 || images.labels.size() != static_cast<std::size_t>(images.count()))
      std::abort();
    for (const std::uint8_t label : images.labels)
      if (label >= fashion::class_count)
        std::abort();
  } catch (const std::runtime_error& error) {
    if (std::string_view(error.what()).find("-ubyte.gz") == std::string_view::npos)
      std::abort();
  }
  return 0;
}
