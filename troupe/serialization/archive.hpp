#pragma once

/// Which types can be written into an archive, and how a type of yours becomes one of them.
///
/// An archive is a Boost archive with the dangerous parts taken out: no pointers, no polymorphism,
/// no object tracking, no class information; every length is checked against the bytes that are
/// left before memory is allocated; nesting is limited; the same value always gives the same bytes,
/// on every machine (little endian, fixed width). Supported without further work:
///
/// - bool, fixed-width integers, float, double
/// - enums with `constexpr E enum_last(E)` beside them, naming the last enumerator (numbers from
/// 0);
///   a number beyond it is refused
/// - std::string, vector, deque, array, pair, tuple, optional, variant, map, set
/// - Value, Map, TimePoint, Duration and all chrono durations, the ids of base/ids.hpp
/// - classes with a member template, public or befriended by boost::serialization::access:
///
///       template <class Archive>
///       void serialize(Archive& archive, unsigned version) {
///         archive(name_, steps_);                      // or Boost's: archive & name_ & steps_
///         if (version >= 2) archive(started_ms_);      // absent in records of version 1
///       }
///
/// `version` is the schema version of the whole record (record.hpp), also in nested classes. Where
/// saving and loading differ, ask `if constexpr (Archive::is_loading::value)`. To refuse content
/// while loading, throw Exception(Error): `decode` returns that error.
///
/// Sources that need the archives themselves include `detail/archive.hpp`.
namespace troupe {

class OutputArchive;
class InputArchive;

}  // namespace troupe
