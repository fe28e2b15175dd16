#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <Eigen/Core>

/// Fashion-MNIST: 70,000 grey images of 28 x 28 pixels in 10 classes of clothing.
namespace fashion {

inline constexpr Eigen::Index image_side = 28;
inline constexpr Eigen::Index image_pixels = image_side * image_side;
inline constexpr Eigen::Index class_count = 10;

/// Where Debian's package dataset-fashion-mnist puts the files.
inline constexpr const char* default_folder = "/usr/share/datasets/fashion-mnist";

struct Images {
  /// One column an image; bytes, because floats would take four times the memory.
  Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic> pixels;
  std::vector<std::uint8_t> labels;  ///< 0 to 9, one an image

  Eigen::Index count() const { return pixels.cols(); }
};

/// A run of consecutive images: a part of a set, without a copy.
struct ImageRange {
  const Images* images = nullptr;
  Eigen::Index first = 0;
  Eigen::Index count = 0;
};

/// Reads `<prefix>-images-idx3-ubyte.gz` and `<prefix>-labels-idx1-ubyte.gz`. The prefixes are
/// "train" (60,000 images) and "t10k" (10,000). Every header field and every length is checked.
/// Throws std::runtime_error that names the file, what is wrong with it, and what to do.
Images read_images(const std::filesystem::path& folder, const std::string& prefix);

/// Throws as `read_images` does when one of the four files cannot be opened. Quick: it spares a
/// program that is about to start many trials the failure of each of them.
void check_files(const std::filesystem::path& folder);

/// The training set of `folder`, read by the first caller of this process and kept until it ends.
/// This is what makes a trial's setup slow, and what a reused worker saves. Thread-safe.
const Images& training_images(const std::filesystem::path& folder);

}  // namespace fashion
