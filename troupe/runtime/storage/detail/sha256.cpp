#include <troupe/base/limits.hpp>
#include <troupe/runtime/storage/detail/sha256.hpp>

#include <array>

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

namespace troupe::detail {

namespace {

constexpr size_t buffer_bytes = 256 * limits::kib;

void check(bool fine) {
  if (!fine)
    throw Exception(ErrorCode::internal, "OpenSSL cannot compute SHA-256 on this machine");
}

// Looked up once: with OpenSSL 3 each look-up by EVP_sha256() takes locks.
const EVP_MD* algorithm() {
  static EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  check(found != nullptr);
  return found;
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  Context() = default;
  ~Context() { EVP_MD_CTX_free(evp); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  check(context_->evp != nullptr);
  check(EVP_DigestInit_ex2(context_->evp, algorithm(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  check(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context_->evp, digest.data(), &size) == 1 && size == digest.size());
  check(EVP_DigestInit_ex2(context_->evp, algorithm(), nullptr) == 1);
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += hex[byte >> 4];
    text += hex[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Result<FileDigest> hash_file(int fd, std::string_view what) {
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  Sha256 hash;
  FileDigest digest;
  // Not initialised: of a small file only the first pages are ever touched.
  const auto buffer = std::make_unique_for_overwrite<char[]>(buffer_bytes);
  for (;;) {
    const ssize_t got = ::read(fd, buffer.get(), buffer_bytes);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return errno_error(errno, "cannot read " + std::string(what));
    if (got == 0)
      break;
    hash.update({buffer.get(), static_cast<size_t>(got)});
    digest.size += static_cast<uint64_t>(got);
  }
  digest.sha256 = hash.finish();
  return digest;
}

}  // namespace troupe::detail
