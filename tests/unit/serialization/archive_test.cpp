#include <troupe/base/clock.hpp>
#include <troupe/base/ids.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/serialization/detail/archive.hpp>

#include <array>
#include <cmath>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <boost/serialization/list.hpp>
#include <boost/serialization/split_member.hpp>
#include <doctest/doctest.h>

using namespace troupe;

namespace {

enum class Color : std::uint8_t { red, green, blue };
constexpr Color enum_last(Color) {
  return Color::blue;
}

struct Everything {
  bool flag = true;
  std::int8_t tiny = -1;
  std::uint64_t large = ~std::uint64_t{0};
  float single = 0.5f;
  double real = -0.25;
  Color color = Color::blue;
  std::string text = "text";
  std::vector<double> reals{1, 2, 3};
  std::vector<bool> flags{true, false};
  std::deque<TrialId> ids{TrialId(4), TrialId(5)};
  std::array<std::int16_t, 3> fixed{1, 2, 3};
  std::map<std::string, std::vector<int>> map{{"a", {1}}, {"b", {}}};
  std::set<int> set{3, 1, 2};
  std::optional<std::string> some = "some";
  std::optional<std::string> none;
  std::variant<std::monostate, int, std::string> variant = "alternative";
  std::tuple<int, bool> tuple{7, true};
  Value value = List{1, "x", Map{{"k", 2.0}}};
  Map values{{"loss", 1.0}};
  TrialKey key{TrialId(9), 2};
  TimePoint moment{123};
  std::chrono::milliseconds duration{456};

  friend bool operator==(const Everything&, const Everything&) = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive(flag, tiny, large, single, real, color, text, reals, flags, ids, fixed, map, set);
    archive(some, none, variant, tuple, value, values, key, moment, duration);
  }
};

struct Node {
  std::vector<Node> children;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive(children);
  }
};

// Private, with save and load apart: what Boost users write.
class Split {
public:
  Split() = default;
  explicit Split(int n) : n_(n) {}
  [[nodiscard]] int n() const { return n_; }

private:
  friend class boost::serialization::access;
  template <class Archive>
  void save(Archive& archive, unsigned) const {
    archive << n_ + 1;
  }
  template <class Archive>
  void load(Archive& archive, unsigned version) {
    archive >> n_;
    n_ -= static_cast<int>(version);
  }
  BOOST_SERIALIZATION_SPLIT_MEMBER()
  int n_ = 0;
};

template <class T>
std::string save(const T& value, unsigned version = 1) {
  std::string bytes;
  detail::write_archive(bytes, value, version);
  return bytes;
}

template <class T>
Result<T> load(std::string_view bytes, unsigned version = 1) {
  return detail::read_archive<T>(bytes, version);
}

template <class T>
std::string load_error(std::string_view bytes) {
  const auto result = load<T>(bytes);
  return result ? "loaded" : result.error().message();
}

}  // namespace

TEST_CASE("every supported type comes back the same") {
  Everything changed;
  changed.flag = false;
  changed.color = Color::green;
  changed.none = "now";
  changed.some.reset();
  changed.variant = 5;
  changed.reals.clear();
  for (const Everything& value : {Everything(), changed}) {
    const auto back = load<Everything>(save(value));
    REQUIRE(back.has_value());
    CHECK(*back == value);
  }
}

TEST_CASE("the bytes are fixed width and little endian") {
  using namespace std::string_literals;
  CHECK(save(std::int32_t{1}) == "\1\0\0\0"s);
  CHECK(save(std::string("ab")) == "\2ab");
  CHECK(save(std::vector<std::uint16_t>{0x0102}) == "\1\2\1");
  CHECK(save(std::optional<bool>(true)) == "\1\1");
  CHECK(save(Color::blue) == "\2");
  CHECK(save(std::map<int, bool>{{1, true}}) == "\1\1\0\0\0\1"s);
  CHECK(save(std::nan("")) == save(-std::nan("1")));
}

TEST_CASE("cut anywhere, an archive is refused") {
  const std::string bytes = save(Everything());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto result = load<Everything>(std::string_view(bytes).substr(0, size));
    REQUIRE_FALSE(result);
    CHECK(result.error().code() == ErrorCode::corrupt);
  }
}

TEST_CASE("bytes left over are refused") {
  CHECK(load_error<bool>("\1\1") == "1 bytes are left over, at byte 1");
}

TEST_CASE("content that no value has is refused") {
  using namespace std::string_literals;
  CHECK(load_error<bool>("\2").find("neither 0 nor 1") != std::string::npos);
  CHECK(load_error<Color>("\3").find("beyond the last enumerator") != std::string::npos);
  CHECK(load_error<std::variant<bool, int>>("\2").find("alternative 2") != std::string::npos);
  CHECK(load_error<std::set<bool>>("\2\1\0"s).find("do not ascend") != std::string::npos);
  CHECK(load_error<std::set<bool>>("\2\1\1").find("do not ascend") != std::string::npos);
  CHECK(load_error<std::optional<bool>>("\7").find("neither 0 nor 1") != std::string::npos);
}

TEST_CASE("counts are checked against the bytes that are left") {
  const std::string huge = "\xff\xff\xff\xff\x0f";
  CHECK(load_error<std::string>(huge).find("a length of 4294967295") != std::string::npos);
  CHECK(load_error<std::vector<double>>("\2" + std::string(15, 'x')).find("a length of 2") !=
        std::string::npos);
  CHECK(load_error<std::vector<Everything>>(huge).find("a length") != std::string::npos);
  CHECK(load_error<std::map<int, int>>(huge).find("a length") != std::string::npos);
  CHECK(load_error<std::list<double>>(huge).find("a length") != std::string::npos);
}

TEST_CASE("nesting of recursive types is limited") {
  Node node;
  for (std::size_t i = 0; i + 1 < limits::max_archive_depth; ++i) {
    Node outer;
    outer.children.push_back(std::move(node));
    node = std::move(outer);
  }
  const std::string bytes = save(node);
  CHECK(load<Node>(bytes).has_value());
  Node outer;
  outer.children.push_back(node);
  CHECK_THROWS_AS(save(outer), Exception);
  CHECK(load<Node>("\1" + bytes).error().code() == ErrorCode::resource_exhausted);
  CHECK_FALSE(load<Node>(std::string(1'000'000, '\1')));
}

TEST_CASE("Boost's own idioms work: split members and its containers") {
  const std::string bytes = save(Split(5), 1);
  CHECK(load<Split>(bytes, 1)->n() == 5);
  CHECK(load<Split>(bytes, 3)->n() == 3);
  const std::list<int> list{1, 2, 3};
  CHECK(*load<std::list<int>>(save(list)) == list);
}

TEST_CASE("what user code throws while loading becomes the error") {
  struct Picky {
    void serialize(InputArchive&, unsigned) {
      throw Exception(ErrorCode::out_of_range, "not in this version");
    }
  };
  struct Rude {
    void serialize(InputArchive&, unsigned) { throw 5; }
  };
  CHECK(load<Picky>("").error() == Error(ErrorCode::out_of_range, "not in this version"));
  CHECK(load<Rude>("").error().code() == ErrorCode::internal);
}
