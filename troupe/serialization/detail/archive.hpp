#pragma once

#include <troupe/serialization/archive.hpp>
#include <troupe/serialization/detail/archive_types.hpp>
#include <troupe/serialization/detail/value_io.hpp>

#include <boost/archive/detail/common_iarchive.hpp>
#include <boost/archive/detail/common_oarchive.hpp>
#include <boost/serialization/collection_size_type.hpp>
#include <boost/serialization/item_version_type.hpp>
#include <boost/serialization/nvp.hpp>
#include <boost/serialization/serialization.hpp>

/// The bounded archives: see archive.hpp for what they take.
///
/// They are Boost archives (`serialize` members, BOOST_SERIALIZATION_SPLIT_MEMBER, save/load all
/// work), but every type is handled here and never by Boost's object machinery, which would write
/// class ids, track addresses and follow pointers.
namespace troupe {

namespace detail {
/// What Boost writes about objects; never reached here, but its base classes mention it.
template <class T>
inline constexpr bool is_boost_bookkeeping =
    std::is_base_of_v<boost::archive::version_type, T> ||
    std::is_base_of_v<boost::archive::class_id_type, T> ||
    std::is_base_of_v<boost::archive::object_id_type, T> ||
    std::is_same_v<T, boost::archive::class_id_optional_type> ||
    std::is_same_v<T, boost::archive::class_id_reference_type> ||
    std::is_same_v<T, boost::archive::object_reference_type> ||
    std::is_same_v<T, boost::archive::tracking_type> ||
    std::is_same_v<T, boost::archive::class_name_type>;

[[noreturn]] void boost_bookkeeping_reached();

/// What BOOST_SERIALIZATION_NVP makes; the name is not written.
template <class T>
inline constexpr bool is_named_value =
    is_instance<std::remove_const_t<T>, boost::serialization::nvp>;
}  // namespace detail

/// Appends to a string that must live longer. `version` goes to every `serialize`.
class OutputArchive final : public boost::archive::detail::common_oarchive<OutputArchive> {
public:
  OutputArchive(std::string& out, unsigned version) : writer_(out), version_(version) {}

  template <class... Parts>
  OutputArchive& operator()(const Parts&... parts) {
    return ((*this << parts), ..., *this);
  }

  template <class T>
  void save_override(const T& value) {
    detail::check_archivable<T>();
    if constexpr (std::is_same_v<T, bool> || std::is_integral_v<T> || std::is_floating_point_v<T>) {
      writer_.put(value);
    } else if constexpr (std::is_enum_v<T>) {
      writer_.put(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      writer_.put_string(value);
    } else if constexpr (std::is_same_v<T, Value>) {
      detail::write_value(writer_, value);
    } else if constexpr (std::is_same_v<T, Map>) {
      detail::write_map(writer_, value);
    } else if constexpr (detail::is_duration<T>) {
      *this << static_cast<std::int64_t>(value.count());
    } else if constexpr (detail::is_optional<T>) {
      writer_.put(value.has_value());
      if (value)
        *this << *value;
    } else if constexpr (detail::is_variant<T>) {
      if (value.valueless_by_exception())
        throw Exception(ErrorCode::internal, "a variant without a value can not be saved");
      writer_.put(static_cast<std::uint8_t>(value.index()));
      std::visit([this](const auto& content) { *this << content; }, value);
    } else if constexpr (detail::is_tuple_like<T>) {
      std::apply([this](const auto&... part) { ((*this << part), ...); }, value);
    } else if constexpr (detail::is_std_array<T>) {
      for (const auto& element : value)
        *this << element;
    } else if constexpr (detail::is_sequence<T> || detail::is_ordered<T>) {
      writer_.put_size(value.size());
      save_elements(value);
    } else if constexpr (detail::is_named_value<T>) {
      *this << value.const_value();
    } else if constexpr (std::is_same_v<T, boost::serialization::collection_size_type>) {
      writer_.put_size(value);
    } else if constexpr (std::is_same_v<T, std::monostate> ||
                         std::is_same_v<T, boost::serialization::item_version_type>) {
      // nothing to write
    } else if constexpr (detail::is_boost_bookkeeping<T>) {
      detail::boost_bookkeeping_reached();
    } else {
      const detail::DepthGuard guard(depth_);
      boost::serialization::serialize_adl(*this, const_cast<T&>(value), version_);
    }
  }

private:
  template <class T>
  void save_elements(const T& container) {
    if constexpr (std::is_same_v<T, std::vector<bool>>) {
      for (const bool element : container)
        writer_.put(element);
    } else {
      for (const auto& element : container)
        *this << element;
    }
  }

  detail::ByteWriter writer_;
  unsigned version_;
  std::size_t depth_ = 0;
};

/// Reads from bytes that must live longer. Throws DecodeFailure; use `read_archive`.
class InputArchive final : public boost::archive::detail::common_iarchive<InputArchive> {
public:
  InputArchive(std::string_view bytes, unsigned version) : reader_(bytes), version_(version) {}

  template <class... Parts>
  InputArchive& operator()(Parts&... parts) {
    return ((*this >> parts), ..., *this);
  }

  template <class T>
  void load_override(T& value) {
    detail::check_archivable<T>();
    if constexpr (std::is_same_v<T, bool>) {
      value = reader_.get_bool();
    } else if constexpr (std::is_integral_v<T>) {
      value = reader_.get<T>();
    } else if constexpr (std::is_same_v<T, double>) {
      value = reader_.get_double();
    } else if constexpr (std::is_same_v<T, float>) {
      value = reader_.get_float();
    } else if constexpr (std::is_enum_v<T>) {
      load_enum(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = reader_.get_string();
    } else if constexpr (std::is_same_v<T, Value>) {
      detail::read_value(reader_, value);
    } else if constexpr (std::is_same_v<T, Map>) {
      detail::read_map(reader_, value);
    } else if constexpr (detail::is_duration<T>) {
      value = T(static_cast<typename T::rep>(reader_.get<std::int64_t>()));
    } else if constexpr (detail::is_optional<T>) {
      value.reset();
      if (reader_.get_bool())
        *this >> value.emplace();
    } else if constexpr (detail::is_variant<T>) {
      load_variant(value, std::make_index_sequence<std::variant_size_v<T>>());
    } else if constexpr (detail::is_tuple_like<T>) {
      std::apply([this](auto&... part) { ((*this >> part), ...); }, value);
    } else if constexpr (detail::is_std_array<T>) {
      for (auto& element : value)
        *this >> element;
    } else if constexpr (detail::is_sequence<T>) {
      load_sequence(value);
    } else if constexpr (detail::is_ordered<T>) {
      load_ordered(value);
    } else if constexpr (detail::is_named_value<T>) {
      *this >> value.value();
    } else if constexpr (std::is_same_v<T, boost::serialization::collection_size_type>) {
      value = T(reader_.get_size());
    } else if constexpr (std::is_same_v<T, std::monostate> ||
                         std::is_same_v<T, boost::serialization::item_version_type>) {
      // nothing to read
    } else if constexpr (detail::is_boost_bookkeeping<T>) {
      detail::boost_bookkeeping_reached();
    } else {
      const detail::DepthGuard guard(depth_);
      boost::serialization::serialize_adl(*this, value, version_);
    }
  }

  /// Nothing may be left: a record that is longer than its type is not that record.
  void expect_end() const { reader_.expect_end(); }
  [[nodiscard]] std::size_t remaining() const noexcept { return reader_.remaining(); }

private:
  template <class E>
  void load_enum(E& value) {
    using Number = std::underlying_type_t<E>;
    const auto number = reader_.get<Number>();
    if (number < Number{0} || number > static_cast<Number>(enum_last(E{})))
      reader_.fail("the number " + std::to_string(number) + " is beyond the last enumerator");
    value = static_cast<E>(number);
  }

  template <class T, std::size_t... I>
  void load_variant(T& value, std::index_sequence<I...>) {
    const auto index = reader_.get<std::uint8_t>();
    const bool found = ((index == I ? (*this >> value.template emplace<I>(), true) : false) || ...);
    if (!found)
      reader_.fail("alternative " + std::to_string(index) + " does not exist");
  }

  // Grows as elements arrive, so that a made-up count can not make it allocate.
  template <class T>
  void load_sequence(T& container) {
    using Element = typename T::value_type;
    const std::size_t count = reader_.get_size(detail::min_archived_bytes<Element>());
    container.clear();
    if constexpr (requires { container.reserve(count); })
      container.reserve(std::min(count, detail::reserve_limit<Element>(reader_.remaining())));
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<Element, bool>) {
        container.push_back(reader_.get_bool());
      } else {
        *this >> container.emplace_back();
      }
    }
  }

  // Saved in ascending order: anything else is damage, and would not be the same value again.
  template <class T>
  void load_ordered(T& container) {
    using Element = typename detail::MutableEntry<typename T::value_type>::type;
    const std::size_t count = reader_.get_size(detail::min_archived_bytes<Element>());
    container.clear();
    for (std::size_t i = 0; i < count; ++i) {
      Element element{};
      *this >> element;
      if (!container.empty() && !container.value_comp()(*std::prev(container.end()), element))
        reader_.fail("the keys of a map or set do not ascend");
      container.emplace_hint(container.end(), std::move(element));
    }
  }

  detail::ByteReader reader_;
  unsigned version_;
  std::size_t depth_ = 0;
};

namespace detail {

template <class T>
void write_archive(std::string& out, const T& value, unsigned version) {
  OutputArchive archive(out, version);
  archive << value;
}

/// Reads exactly one T from all of `bytes`; no exception leaves.
template <class T>
[[nodiscard]] Result<T> read_archive(std::string_view bytes, unsigned version) {
  try {
    T value{};
    InputArchive archive(bytes, version);
    archive >> value;
    archive.expect_end();
    return value;
  } catch (...) {
    return current_decode_error();
  }
}

}  // namespace detail
}  // namespace troupe
