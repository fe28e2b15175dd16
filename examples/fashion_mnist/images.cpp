#include "images.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include <zlib.h>

namespace fashion {
namespace {

constexpr std::uint32_t images_magic = 0x00000803;  // unsigned bytes, three dimensions
constexpr std::uint32_t labels_magic = 0x00000801;  // unsigned bytes, one dimension
constexpr std::uint32_t images_max = 1'000'000;     // far beyond what these files hold

/// A gzip file that is read from front to back.
class GzipFile {
public:
  explicit GzipFile(const std::filesystem::path& path)
      : path_(path), file_(gzopen(path.c_str(), "rb"), &gzclose) {
    if (!file_) {
      throw std::runtime_error(
          path.string() + ": cannot be opened. Install the Debian package dataset-fashion-mnist, " +
          "or name the folder that holds the files with --data");
    }
  }

  void read(std::uint8_t* target, std::size_t size, const char* what) {
    while (size > 0) {
      const auto part = static_cast<unsigned>(std::min<std::size_t>(size, 1U << 20));
      const int got = gzread(file_.get(), target, part);
      if (got <= 0) {
        fail(std::string("ends within ") + what);
      }
      target += got;
      size -= static_cast<std::size_t>(got);
    }
  }

  std::uint32_t read_number(const char* what) {
    std::array<std::uint8_t, 4> bytes{};
    read(bytes.data(), bytes.size(), what);
    std::uint32_t number = 0;
    for (const std::uint8_t byte : bytes) {
      number = number << 8 | byte;
    }
    return number;
  }

  void expect_number(std::uint32_t expected, const char* what) {
    const std::uint32_t found = read_number(what);
    if (found != expected) {
      fail(std::string(what) + " is " + std::to_string(found) + ", expected " +
           std::to_string(expected));
    }
  }

  std::uint32_t read_count() {
    const std::uint32_t count = read_number("the number of items");
    if (count == 0 || count > images_max) {
      fail("claims " + std::to_string(count) + " items, expected 1 to " +
           std::to_string(images_max));
    }
    return count;
  }

  void expect_end() {
    std::uint8_t more = 0;
    // Reading on is also what makes zlib verify the checksum at the end of the file.
    const int got = gzread(file_.get(), &more, 1);
    if (got != 0) {
      fail(got > 0 ? "goes on after its last item" : "fails its checksum");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_.string() + ": " + what +
                             ". The file is damaged or of another kind; install the Debian " +
                             "package dataset-fashion-mnist again, or name another folder");
  }

private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::filesystem::path images_file(const std::filesystem::path& folder, const std::string& prefix) {
  return folder / (prefix + "-images-idx3-ubyte.gz");
}

std::filesystem::path labels_file(const std::filesystem::path& folder, const std::string& prefix) {
  return folder / (prefix + "-labels-idx1-ubyte.gz");
}

}  // namespace

Images read_images(const std::filesystem::path& folder, const std::string& prefix) {
  Images images;
  GzipFile pixels(images_file(folder, prefix));
  pixels.expect_number(images_magic, "its magic number");
  const std::uint32_t count = pixels.read_count();
  pixels.expect_number(static_cast<std::uint32_t>(image_side), "the height of an image");
  pixels.expect_number(static_cast<std::uint32_t>(image_side), "the width of an image");
  images.pixels.resize(image_pixels, static_cast<Eigen::Index>(count));
  pixels.read(images.pixels.data(), static_cast<std::size_t>(images.pixels.size()), "its pixels");
  pixels.expect_end();

  GzipFile labels(labels_file(folder, prefix));
  labels.expect_number(labels_magic, "its magic number");
  labels.expect_number(count, "the number of labels (against the number of images)");
  images.labels.resize(count);
  labels.read(images.labels.data(), images.labels.size(), "its labels");
  labels.expect_end();
  for (const std::uint8_t label : images.labels) {
    if (label >= class_count) {
      labels.fail("holds the label " + std::to_string(label) + ", expected 0 to 9");
    }
  }
  return images;
}

void check_files(const std::filesystem::path& folder) {
  for (const char* prefix : {"train", "t10k"}) {
    GzipFile(images_file(folder, prefix)).expect_number(images_magic, "its magic number");
    GzipFile(labels_file(folder, prefix)).expect_number(labels_magic, "its magic number");
  }
}

const Images& training_images(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::unique_ptr<const Images>> sets;
  const std::lock_guard lock(mutex);
  auto& set = sets[folder];
  if (!set)
    set = std::make_unique<const Images>(read_images(folder, "train"));
  return *set;
}

}  // namespace fashion
