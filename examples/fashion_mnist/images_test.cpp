#include "images.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

namespace {

/// A folder with a tiny data set, removed at the end.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fashion_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
    write("t-images-idx3-ubyte.gz", head(0x803, 2) + number(28) + number(28) + pixels(2));
    write("t-labels-idx1-ubyte.gz", head(0x801, 2) + '\x00' + '\x09');
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& content) const {
    gzFile file = gzopen((path / name).c_str(), "wb");
    REQUIRE(file != nullptr);
    REQUIRE(gzwrite(file, content.data(), static_cast<unsigned>(content.size())) > 0);
    REQUIRE(gzclose(file) == Z_OK);
  }

  static std::string number(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(value >> shift & 0xFF);
    }
    return bytes;
  }
  static std::string head(std::uint32_t magic, std::uint32_t count) {
    return number(magic) + number(count);
  }
  static std::string pixels(std::size_t images) { return std::string(images * 784, '\x07'); }

  std::string error() const {
    try {
      (void)fashion::read_images(path, "t");
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  }

  std::filesystem::path path;
};

}  // namespace

TEST_CASE("images and labels are read") {
  const Folder folder;
  const fashion::Images images = fashion::read_images(folder.path, "t");
  CHECK(images.count() == 2);
  CHECK(images.pixels(783, 1) == 7);
  CHECK(images.labels == std::vector<std::uint8_t>{0, 9});
}

TEST_CASE("a missing file is named with the remedy") {
  const Folder folder;
  std::filesystem::remove(folder.path / "t-labels-idx1-ubyte.gz");
  CHECK(folder.error().find("t-labels-idx1-ubyte.gz") != std::string::npos);
  CHECK(folder.error().find("dataset-fashion-mnist") != std::string::npos);
}

TEST_CASE("missing files are noticed before anything is read") {
  const Folder folder;
  CHECK_THROWS_AS(fashion::check_files(folder.path), std::runtime_error);
  for (const char* prefix : {"train", "t10k"}) {
    folder.write(std::string(prefix) + "-images-idx3-ubyte.gz", folder.head(0x803, 2));
    folder.write(std::string(prefix) + "-labels-idx1-ubyte.gz", folder.head(0x801, 2));
  }
  CHECK_NOTHROW(fashion::check_files(folder.path));
}

TEST_CASE("headers that do not fit are refused") {
  const Folder folder;
  const std::string images = "t-images-idx3-ubyte.gz";
  SUBCASE("magic number") {
    folder.write(images, folder.head(0x801, 2) + folder.number(28) + folder.number(28));
    CHECK(folder.error().find("magic number is 2049, expected 2051") != std::string::npos);
  }
  SUBCASE("size of an image") {
    folder.write(images, folder.head(0x803, 2) + folder.number(28) + folder.number(32));
    CHECK(folder.error().find("width of an image is 32, expected 28") != std::string::npos);
  }
  SUBCASE("an absurd number of images is refused before memory is taken for them") {
    folder.write(images, folder.head(0x803, 0xFFFFFFFF) + folder.number(28) + folder.number(28));
    CHECK(folder.error().find("claims 4294967295 items") != std::string::npos);
  }
  SUBCASE("number of labels") {
    folder.write("t-labels-idx1-ubyte.gz", folder.head(0x801, 3) + std::string(3, '\0'));
    CHECK(folder.error().find("number of labels") != std::string::npos);
  }
}

TEST_CASE("content that does not fit its header is refused") {
  const Folder folder;
  const std::string head = folder.head(0x803, 2) + folder.number(28) + folder.number(28);
  const std::string images = "t-images-idx3-ubyte.gz";
  SUBCASE("too short") {
    folder.write(images, head + folder.pixels(1));
    CHECK(folder.error().find("ends within its pixels") != std::string::npos);
  }
  SUBCASE("too long") {
    folder.write(images, head + folder.pixels(2) + "x");
    CHECK(folder.error().find("goes on after its last item") != std::string::npos);
  }
  SUBCASE("a label beyond the classes") {
    folder.write("t-labels-idx1-ubyte.gz", folder.head(0x801, 2) + '\x00' + '\x0A');
    CHECK(folder.error().find("label 10, expected 0 to 9") != std::string::npos);
  }
  SUBCASE("a flipped bit fails the checksum or the decompression") {
    const std::filesystem::path file = folder.path / images;
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-8, std::ios::end);  // the checksum of the content
    const int byte = stream.get();
    stream.seekp(-8, std::ios::end);
    stream.put(static_cast<char>(byte ^ 1));
    stream.close();
    CHECK(folder.error().find("damaged") != std::string::npos);
  }
}
