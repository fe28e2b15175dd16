#pragma once

#include <troupe/runtime/store/journal.hpp>

#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A journal in memory with the contract of the one on disk, for tests and simulation: what is
/// accepted survives `crash`, what is durable survives `power_loss`, and the fault points
/// store.{append,sync}.{before_write,after_write} / {before,after} work here too.
///
/// Thread rules as `Journal`; `crash` and `power_loss` while nobody else uses it.
class MemoryJournal final : public Journal {
public:
  explicit MemoryJournal(std::string store_id = "memory");

  Result<Sequence> append(std::span<const WriteSet> batch) override;
  Result<Sequence> sync() override;
  Status close() override;

  Result<std::optional<std::string>> get(Table table, std::string_view key) const override;
  Status scan(Table table, std::string_view prefix, const RowVisitor& visit) const override;
  Status events(Sequence after, const EventVisitor& visit) const override;
  Result<std::string> event(Sequence sequence) const override;
  Watermarks watermarks() const override;
  std::string store_id() const override;

  /// As if the process had died and the store had been opened again: everything accepted is there,
  /// writes work again.
  void crash();

  /// As if the machine had lost power and the store had been opened again: the durable batches are
  /// there, and of the accepted ones after them the first `surviving_batches` (the disk may have
  /// got some on its own). Writes work again.
  void power_loss(std::size_t surviving_batches = 0);

  /// Batches that are accepted and not durable.
  [[nodiscard]] std::size_t undurable_batches() const;

private:
  using Rows = std::map<std::string, std::string, std::less<>>;
  struct Undo {
    Table table;
    std::string key;
    std::optional<std::string> before;
  };
  struct Batch {
    Sequence last;
    uint32_t chain_before = 0;
    std::vector<Undo> undo;  ///< in the order of the writes
  };

  Rows& rows(Table table);
  const Rows& rows(Table table) const;
  Status check_usable() const;
  Batch apply(std::span<const WriteSet> batch);
  void reopen();

  mutable std::mutex mutex_;
  std::string store_id_;
  std::array<Rows, table_count> tables_;
  std::deque<std::string> events_;
  std::deque<Batch> undurable_;
  Watermarks marks_;
  std::optional<Error> failed_;
  bool closed_ = false;
};

}  // namespace troupe
