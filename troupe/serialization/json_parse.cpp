#include <troupe/base/detail/json_text.hpp>
#include <troupe/serialization/detail/json_keys.hpp>
#include <troupe/serialization/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

namespace troupe {
namespace {

// Lets the parser tell how far it has read.
class CountingIterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator() = default;
  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

private:
  const char* at_ = nullptr;
  const char** furthest_ = nullptr;
};

enum class Tag : std::uint8_t { none, real, bytes };

// A list or map that is being read.
struct Frame {
  bool is_map = false;
  Tag tag = Tag::none;
  std::string key;
  List elements;
  std::vector<Map::Entry> entries;
  std::vector<std::size_t>
      key_ends;  // where in the text, for the error about a key that comes twice
};

class Handler {
public:
  Handler(std::string_view text, const JsonLimits& limits, const char* const& furthest)
      : text_(text), limits_(limits), furthest_(furthest) {}

  bool null() { return add(Value()); }
  bool boolean(bool v) { return add(v); }
  bool number_integer(std::int64_t v) { return add(v); }
  bool number_unsigned(std::uint64_t v) {
    if (v > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return integer_too_large(std::to_string(v));
    return add(v);
  }
  bool number_float(double v, const std::string& token) {
    if (token.find_first_of(".eE") == std::string::npos)
      return integer_too_large(token);
    return add(v);
  }
  bool string(std::string& v) { return add(std::move(v)); }
  bool binary(std::vector<std::uint8_t>&) { return fail("unexpected binary data"); }

  bool start_object(std::size_t) { return start(true); }
  bool start_array(std::size_t) { return start(false); }
  bool key(std::string& name);
  bool end_object();
  bool end_array() {
    List list = std::move(frames_.back().elements);
    frames_.pop_back();
    return add(std::move(list));
  }

  template <class JsonException>
  bool parse_error(std::size_t, const std::string&, const JsonException& error) {
    // "[json.exception...] parse error at line 1, column 2: syntax error ...": the place is ours.
    std::string_view message = error.what();
    if (const auto end = message.find("] "); end != std::string_view::npos)
      message.remove_prefix(end + 2);
    if (message.starts_with("parse error at"))
      if (const auto end = message.find(": "); end != std::string_view::npos)
        message.remove_prefix(end + 2);
    return fail(detail::printable(message, 300));
  }

  Result<Value> result() && {
    if (error_)
      return *std::move(error_);
    return std::move(root_);
  }

private:
  bool start(bool is_map) {
    if (frames_.size() >= limits_.max_depth)
      return fail_limit("nested deeper than " + std::to_string(limits_.max_depth) + " levels");
    frames_.emplace_back().is_map = is_map;
    return true;
  }

  bool add(Value value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Frame& frame = frames_.back();
    if (std::max(frame.elements.size(), frame.entries.size()) >= limits_.max_entries)
      return fail_limit("more than " + std::to_string(limits_.max_entries) +
                        " entries in one object or array");
    if (frame.is_map) {
      frame.entries.emplace_back(std::move(frame.key), std::move(value));
    } else {
      frame.elements.push_back(std::move(value));
    }
    return true;
  }

  bool add_tagged(const Frame& frame);

  bool integer_too_large(const std::string& digits) {
    return fail("the integer " + detail::printable(digits, 40) +
                " does not fit 64 bits; write it with '.0' for a double or as a string");
  }

  bool fail(const std::string& what) { return fail_at(position(), what); }
  bool fail_limit(const std::string& what) {
    return fail_at(position(), what, ErrorCode::resource_exhausted);
  }
  bool fail_at(std::size_t at, const std::string& what, ErrorCode code = ErrorCode::corrupt) {
    // The character that was read last; it may be the line end that should not have come.
    const std::string_view before = text_.substr(0, at == 0 ? 0 : at - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const std::size_t column = before.size() - line_start + 1;
    error_.emplace(code, "JSON line " + std::to_string(line) + ", column " +
                             std::to_string(column) + ": " + what);
    return false;
  }
  [[nodiscard]] std::size_t position() const {
    return static_cast<std::size_t>(furthest_ - text_.data());
  }

  std::string_view text_;
  const JsonLimits& limits_;
  const char* const& furthest_;
  std::vector<Frame> frames_;
  Value root_;
  std::optional<Error> error_;
};

bool Handler::key(std::string& name) {
  Frame& frame = frames_.back();
  frame.key_ends.push_back(position());
  if (frame.tag != Tag::none)
    return fail("a '$double' or '$bytes' object has one entry");
  if (!name.starts_with('$')) {
    frame.key = std::move(name);
  } else if (name.starts_with("$$")) {
    frame.key = name.substr(1);
  } else if (name.starts_with(detail::json_bytes_key_prefix)) {
    const auto hex = std::string_view(name).substr(detail::json_bytes_key_prefix.size());
    if (!detail::from_hex(hex, frame.key) || detail::is_valid_utf8(frame.key))
      return fail(
          "a key '$bytes:' is followed by the hexadecimal bytes of a key that is not UTF-8");
  } else if ((name == "$double" || name == "$bytes") && frame.entries.empty()) {
    frame.tag = name == "$double" ? Tag::real : Tag::bytes;
  } else {
    return fail("keys with one '$' in front are reserved; write \"$" + detail::printable(name) +
                "\" for this key");
  }
  return true;
}

bool Handler::end_object() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.tag != Tag::none)
    return add_tagged(frame);
  auto map = Map::from_entries(frame.entries);
  if (map)
    return add(map.take());
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < frame.entries.size(); ++i)
    if (!seen.insert(frame.entries[i].first).second)
      return fail_at(frame.key_ends[i], map.error().message());
  return fail(map.error().message());
}

bool Handler::add_tagged(const Frame& frame) {
  const std::string* content = frame.entries.front().second.get_if<std::string>();
  if (frame.tag == Tag::real && content != nullptr) {
    if (*content == "nan")
      return add(std::numeric_limits<double>::quiet_NaN());
    if (*content == "inf")
      return add(std::numeric_limits<double>::infinity());
    if (*content == "-inf")
      return add(-std::numeric_limits<double>::infinity());
  }
  if (frame.tag == Tag::real)
    return fail(R"('$double' is "nan", "inf" or "-inf")");
  std::string bytes;
  if (content == nullptr || !detail::from_hex(*content, bytes) || detail::is_valid_utf8(bytes))
    return fail("'$bytes' is the hexadecimal bytes of a string that is not UTF-8");
  return add(std::move(bytes));
}

}  // namespace

Result<Value> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes)
    return Error(ErrorCode::resource_exhausted, "the JSON text has " + std::to_string(text.size()) +
                                                    " bytes; at most " +
                                                    std::to_string(limits.max_bytes) + " are read");
  const char* furthest = text.data();
  Handler handler(text, limits, furthest);
  const CountingIterator first(text.data(), &furthest);
  const CountingIterator last(text.data() + text.size(), &furthest);
  const bool good = nlohmann::json::sax_parse(first, last, &handler);
  auto result = std::move(handler).result();
  if (!good && result)
    return Error(ErrorCode::internal, "the JSON parser stopped without saying why");
  return result;
}

}  // namespace troupe
