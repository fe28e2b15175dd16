#include <troupe/base/detail/json_text.hpp>
#include <troupe/serialization/detail/json_keys.hpp>
#include <troupe/serialization/json.hpp>

#include <cmath>

namespace troupe {
namespace {

class Writer {
public:
  explicit Writer(JsonStyle style) : pretty_(style == JsonStyle::pretty) {}

  void write(const Value& value) {
    switch (value.type()) {
      case ValueType::null:
        out_ += "null";
        break;
      case ValueType::boolean:
        out_ += value.as_bool() ? "true" : "false";
        break;
      case ValueType::integer:
        out_ += std::to_string(value.as_int());
        break;
      case ValueType::real:
        write(value.as_double());
        break;
      case ValueType::string:
        write(value.as_string());
        break;
      case ValueType::list:
        write(value.as_list());
        break;
      case ValueType::map:
        write(value.as_map());
        break;
    }
  }

  void write(const Map& map) {
    enclose('{', '}', map, [this](const Map::Entry& entry) {
      detail::append_json_string(out_, detail::escape_json_key(entry.first));
      out_ += pretty_ ? ": " : ":";
      write(entry.second);
    });
  }

  std::string take() { return std::move(out_); }

private:
  void write(double number) {
    if (std::isfinite(number)) {
      detail::append_json_double(out_, number);
    } else {
      tagged("$double", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
    }
  }

  void write(const std::string& text) {
    if (detail::is_valid_utf8(text)) {
      detail::append_json_string(out_, text);
    } else {
      tagged("$bytes", detail::to_hex(text));
    }
  }

  void write(const List& list) {
    enclose('[', ']', list, [this](const Value& element) { write(element); });
  }

  void tagged(std::string_view tag, std::string_view content) {
    out_ += "{\"";
    out_ += tag;
    out_ += pretty_ ? "\": \"" : "\":\"";
    out_ += content;
    out_ += "\"}";
  }

  template <class Container, class Element>
  void enclose(char open, char close, const Container& container, const Element& element) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& item : container) {
      if (!first)
        out_ += ',';
      first = false;
      new_line();
      element(item);
    }
    --depth_;
    if (!first)
      new_line();
    out_ += close;
  }

  void new_line() {
    if (!pretty_)
      return;
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  bool pretty_;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

namespace detail {

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 0xf];
  }
  return text;
}

bool from_hex(std::string_view text, std::string& bytes) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9')
      return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  bytes.clear();
  if (text.size() % 2 != 0)
    return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0)
      return false;
    bytes += static_cast<char>(high * 16 + low);
  }
  return true;
}

std::string escape_json_key(std::string_view key) {
  if (!is_valid_utf8(key))
    return std::string(json_bytes_key_prefix) + to_hex(key);
  return (key.starts_with('$') ? "$" : "") + std::string(key);
}

}  // namespace detail

std::string to_json(const Value& value, JsonStyle style) {
  Writer writer(style);
  writer.write(value);
  return writer.take();
}

std::string to_json(const Map& map, JsonStyle style) {
  Writer writer(style);
  writer.write(map);
  return writer.take();
}

}  // namespace troupe
