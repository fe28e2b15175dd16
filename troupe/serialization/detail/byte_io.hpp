#pragma once

#include <troupe/base/error.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

/// Little-endian bytes: what envelopes, archives and the value codec are made of.
namespace troupe::detail {

/// Damage found while reading. Never leaves serialization: the decoders turn it into an Error.
class DecodeFailure {
public:
  DecodeFailure(ErrorCode code, std::string message) : error_(code, std::move(message)) {}
  explicit DecodeFailure(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }

private:
  Error error_;
};

/// What was thrown while reading, as an Error. Call it in a catch block.
[[nodiscard]] Error current_decode_error();

template <std::integral T>
constexpr T to_little_endian(T v) noexcept {
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1)
    return v;
  using U = std::make_unsigned_t<T>;
  U in = static_cast<U>(v);
  U out = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i, in = static_cast<U>(in >> 8))
    out = static_cast<U>((out << 8) | (in & 0xff));
  return static_cast<T>(out);
}

class ByteWriter {
public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  template <std::integral T>
  requires(!std::same_as<T, bool>) void put(T v) {
    v = to_little_endian(v);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &v, sizeof(T));
    out_.append(bytes, sizeof(T));
  }
  void put(bool v) { out_.push_back(v ? '\1' : '\0'); }
  /// NaN is always written with the same bits.
  void put(double v) { put(std::bit_cast<std::uint64_t>(v == v ? v : quiet_nan<double>())); }
  void put(float v) { put(std::bit_cast<std::uint32_t>(v == v ? v : quiet_nan<float>())); }

  /// A length: LEB128, 1 byte below 128.
  void put_size(std::uint64_t n) {
    while (n >= 0x80) {
      out_.push_back(static_cast<char>((n & 0x7f) | 0x80));
      n >>= 7;
    }
    out_.push_back(static_cast<char>(n));
  }
  void put_bytes(std::string_view bytes) { out_.append(bytes); }
  void put_string(std::string_view text) {
    put_size(text.size());
    put_bytes(text);
  }
  [[nodiscard]] std::string& out() noexcept { return out_; }

private:
  template <class T>
  static constexpr T quiet_nan() noexcept {
    if constexpr (sizeof(T) == 8)
      return std::bit_cast<T>(std::uint64_t{0x7ff8000000000000});
    else
      return std::bit_cast<T>(std::uint32_t{0x7fc00000});
  }

  std::string& out_;
};

/// Reads from bytes it does not own. Throws DecodeFailure naming the position.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) noexcept
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  template <std::integral T>
  requires(!std::same_as<T, bool>) T get() {
    need(sizeof(T));
    T v;
    std::memcpy(&v, at_, sizeof(T));
    at_ += sizeof(T);
    return to_little_endian(v);
  }
  bool get_bool() {
    const auto v = get<std::uint8_t>();
    if (v > 1)
      fail("a bool is neither 0 nor 1");
    return v == 1;
  }
  double get_double() { return std::bit_cast<double>(get<std::uint64_t>()); }
  float get_float() { return std::bit_cast<float>(get<std::uint32_t>()); }

  /// A count of things that take at least `min_bytes_each`; never more than the bytes left can
  /// hold.
  std::size_t get_size(std::size_t min_bytes_each = 1) {
    const std::uint64_t n = get_leb128();
    if (n > remaining() / min_bytes_each)
      size_too_large(n);
    return static_cast<std::size_t>(n);
  }
  std::string_view get_bytes(std::size_t n) {
    need(n);
    const std::string_view bytes(at_, n);
    at_ += n;
    return bytes;
  }
  std::string_view get_string() { return get_bytes(get_size()); }

  [[nodiscard]] std::size_t position() const noexcept {
    return static_cast<std::size_t>(at_ - begin_);
  }
  [[nodiscard]] std::size_t remaining() const noexcept {
    return static_cast<std::size_t>(end_ - at_);
  }

  /// Nothing may be left.
  void expect_end() const;
  [[noreturn]] void fail(std::string_view what) const;

private:
  void need(std::size_t n) const {
    if (n > remaining()) [[unlikely]]
      cut_off(n);
  }
  std::uint64_t get_leb128();
  [[noreturn]] void cut_off(std::size_t wanted) const;
  [[noreturn]] void size_too_large(std::uint64_t n) const;

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace troupe::detail
