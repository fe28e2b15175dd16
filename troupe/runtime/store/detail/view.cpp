#include <troupe/runtime/store/detail/view.hpp>
#include <troupe/runtime/store/detail/write_rules.hpp>

#include <algorithm>

namespace troupe::detail {
namespace {

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::string_view view(const rocksdb::Slice& bytes) {
  return {bytes.data(), bytes.size()};
}

std::string place(std::size_t family, std::string_view key) {
  return "table " + family_names()[family] + ", key " + show_key(key);
}

std::string event_place(Sequence sequence) {
  return "event " + to_string(sequence);
}

Error doctor_needed(std::string what) {
  return Error(ErrorCode::corrupt, std::move(what) + ". Run `troupe doctor` on the experiment");
}

}  // namespace

std::string show_key(std::string_view key) {
  const bool text =
      std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (text)
    return '"' + std::string(key) + '"';
  std::string digits = "0x";
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

Result<std::optional<std::string>> View::get_raw(std::size_t family, std::string_view key) const {
  std::string value;
  const auto status =
      database_->db().Get(rocksdb::ReadOptions(), database_->handle(family), slice(key), &value);
  if (status.IsNotFound())
    return std::optional<std::string>();
  if (!status.ok())
    return rocks_error(status, place(family, key));
  return std::optional<std::string>(std::move(value));
}

Status View::pairs(std::size_t family, std::string_view begin, const PairVisitor& visit) const {
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(rocksdb::ReadOptions(), database_->handle(family)));
  std::string last(begin);
  for (it->Seek(slice(begin)); it->Valid(); it->Next()) {
    last.assign(it->key().data(), it->key().size());
    if (!visit(view(it->key()), view(it->value())))
      return ok();
  }
  if (it->status().ok())
    return ok();
  return rocks_error(it->status(), "after " + place(family, last));
}

Result<std::optional<std::string>> View::get(Table table, std::string_view key) const {
  TROUPE_TRY(value, get_raw(index_of(table), key));
  if (!value)
    return std::optional<std::string>();
  auto row = parse_row(*value);
  if (!row)
    return doctor_needed(place(index_of(table), key) + ": " + row.error().message());
  value->erase(0, row_prefix_bytes);
  return value;
}

Status View::scan(Table table, std::string_view prefix, std::string_view from,
                  const JournalReader::RowVisitor& visit) const {
  Status damage;
  const auto status = pairs(
      index_of(table), std::max(prefix, from), [&](std::string_view key, std::string_view value) {
        if (!key.starts_with(prefix))
          return false;
        const auto row = parse_row(value);
        if (!row) {
          damage = doctor_needed(place(index_of(table), key) + ": " + row.error().message());
          return false;
        }
        return visit(key, row->record);
      });
  if (!status)
    return status;
  return damage;
}

Status View::events(Sequence after, const JournalReader::EventVisitor& visit) const {
  Status damage;
  std::optional<std::uint32_t> chain;
  if (after.value == 0)
    chain = 0;
  Sequence expected = after.next();
  const auto each = [&](std::string_view key, std::string_view value) {
    const auto sequence = parse_event_key(key);
    const auto stored = parse_event(value);
    if (!sequence || !stored) {
      damage = doctor_needed(place(index_of(Family::events), key) + " is malformed");
    } else if (*sequence != expected) {
      damage = doctor_needed("events " + to_string(expected) + " to " +
                             to_string(Sequence(sequence->value - 1)) + " are missing");
    } else if (chain && chain_next(*chain, *sequence, stored->event) != stored->chain) {
      damage = doctor_needed(event_place(*sequence) + " does not fit the chain of those before it");
    }
    if (!damage)
      return false;
    chain = stored->chain;
    expected = expected.next();
    return visit(*sequence, stored->event);
  };
  const auto status = pairs(index_of(Family::events), event_key(expected), each);
  if (!status)
    return status;
  return damage;
}

Result<std::string> View::event(Sequence sequence) const {
  TROUPE_TRY(value, get_raw(index_of(Family::events), event_key(sequence)));
  if (!value) {
    TROUPE_TRY(end, high_water());
    if (sequence.value == 0 || sequence > end.sequence)
      return no_such_event(sequence, end.sequence);
    return doctor_needed(event_place(sequence) + " is missing");
  }
  auto stored = parse_event(*value);
  if (!stored)
    return doctor_needed(event_place(sequence) + ": " + stored.error().message());
  value->erase(0, event_prefix_bytes);
  return *std::move(value);
}

Result<std::uint32_t> View::chain_at(Sequence sequence) const {
  if (sequence.value == 0)
    return std::uint32_t{0};
  TROUPE_TRY(value, get_raw(index_of(Family::events), event_key(sequence)));
  if (!value)
    return Error(ErrorCode::not_found, event_place(sequence) + " is missing");
  TROUPE_TRY(stored, parse_event(*value));
  return stored.chain;
}

template <class Record>
Result<Record> View::meta(std::string_view key) const {
  TROUPE_TRY(value, get_raw(index_of(Family::meta), key));
  if (!value)
    return doctor_needed("the store's record \"" + std::string(key) + "\" is missing");
  return decode<Record>(*value).with_context(place(index_of(Family::meta), key));
}

Result<StoreSchema> View::schema() const {
  return meta<StoreSchema>(schema_key);
}

Result<std::string> View::store_id() const {
  TROUPE_TRY(identity, meta<StoreIdentity>(store_id_key));
  return std::move(identity.store_id);
}

Result<HighWater> View::high_water() const {
  return meta<HighWater>(high_water_key);
}

}  // namespace troupe::detail
