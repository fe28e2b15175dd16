#pragma once

#include <troupe/base/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace troupe::detail {

/// SHA-256, in pieces. Throws Exception internal when the library refuses (it was built without
/// it).
class Sha256 {
public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  /// 64 lowercase hexadecimal digits. The object then starts anew.
  std::string finish();

private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::string_view bytes);

struct FileDigest {
  uint64_t size = 0;
  std::string sha256;
};

/// Everything from the place where `fd` is to its end; `what` names it in errors.
Result<FileDigest> hash_file(int fd, std::string_view what);

}  // namespace troupe::detail
