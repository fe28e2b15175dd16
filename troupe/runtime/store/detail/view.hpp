#pragma once

#include <troupe/runtime/store/detail/format.hpp>
#include <troupe/runtime/store/detail/rocks.hpp>
#include <troupe/runtime/store/journal.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe::detail {

/// Reads the store's format out of an open database, whichever way it was opened. Errors name the
/// table and the key.
class View {
public:
  explicit View(const Database& database) : database_(&database) {}

  Result<std::optional<std::string>> get(Table table, std::string_view key) const;
  /// Rows with the prefix whose key is not before `from`.
  Status scan(Table table, std::string_view prefix, std::string_view from,
              const JournalReader::RowVisitor& visit) const;
  /// Checks numbers and chain on the way; an event that does not fit ends the visit with corrupt.
  Status events(Sequence after, const JournalReader::EventVisitor& visit) const;
  Result<std::string> event(Sequence sequence) const;

  Result<StoreSchema> schema() const;
  Result<std::string> store_id() const;
  Result<HighWater> high_water() const;
  /// The chain at an event, from its row. Error not_found.
  Result<std::uint32_t> chain_at(Sequence sequence) const;

  /// All pairs of a column family from `begin` on, as stored. The status of the iterator is
  /// checked.
  using PairVisitor = std::function<bool(std::string_view key, std::string_view value)>;
  Status pairs(std::size_t family, std::string_view begin, const PairVisitor& visit) const;

  [[nodiscard]] const Database& database() const { return *database_; }

private:
  Result<std::optional<std::string>> get_raw(std::size_t family, std::string_view key) const;
  template <class Record>
  Result<Record> meta(std::string_view key) const;

  const Database* database_;
};

/// For error messages: the key as hexadecimal digits, and as text where it is text.
[[nodiscard]] std::string show_key(std::string_view key);

}  // namespace troupe::detail
