#pragma once

#include <troupe/serialization/detail/archive.hpp>
#include <troupe/serialization/detail/record_registry.hpp>
#include <troupe/serialization/envelope.hpp>
#include <troupe/serialization/record.hpp>

/// How `encode` and `decode` work; for the one source that defines a record.
namespace troupe::detail {

/// Fully specialised once per type number by TROUPE_DEFINE_RECORD, not inline on purpose: a second
/// definition is an error of the linker.
template <std::uint16_t Type>
void record_type_is_taken();

template <class T>
std::string RecordCodec<T>::encode(const T& record) {
  constexpr RecordInfo info = RecordTraits<T>::record;
  std::string payload;
  write_archive(payload, record, info.version);
  return seal(info.type, info.version, payload);
}

template <class T>
Result<T> RecordCodec<T>::decode(std::string_view bytes) {
  constexpr RecordInfo info = RecordTraits<T>::record;
  auto envelope = open_envelope(bytes, info.type, info.version, info.oldest_version);
  if (!envelope)
    return std::move(envelope).error().with_context(info.name);
  auto record = read_archive<T>(envelope->payload, envelope->version);
  if (!record)
    return std::move(record).error().with_context(info.name);
  return record;
}

template <class T>
struct RecordRegistration {
  static inline const bool registered = register_record_type(RecordTraits<T>::record);
};

}  // namespace troupe::detail

/// Defines the codec of a record and registers it. Outside namespaces, in one source only.
#define TROUPE_DEFINE_RECORD(...)                                    \
  template <>                                                        \
  void ::troupe::detail::record_type_is_taken<                       \
      ::troupe::RecordTraits<__VA_ARGS__>::record.type>() {}         \
  template struct ::troupe::detail::RecordRegistration<__VA_ARGS__>; \
  template struct ::troupe::detail::RecordCodec<__VA_ARGS__>
