#include <troupe/base/fault_point.hpp>
#include <troupe/runtime/store/detail/write_rules.hpp>
#include <troupe/runtime/store/memory_journal.hpp>

#include <utility>

namespace troupe {

MemoryJournal::MemoryJournal(std::string store_id) : store_id_(std::move(store_id)) {}

MemoryJournal::Rows& MemoryJournal::rows(Table table) {
  return tables_[static_cast<std::size_t>(table) - 1];
}

const MemoryJournal::Rows& MemoryJournal::rows(Table table) const {
  return tables_[static_cast<std::size_t>(table) - 1];
}

Status MemoryJournal::check_usable() const {
  if (closed_)
    return detail::refuse_closed();
  if (failed_)
    return detail::refuse_after(*failed_);
  return ok();
}

MemoryJournal::Batch MemoryJournal::apply(std::span<const WriteSet> batch) {
  Batch applied;
  applied.chain_before = marks_.chain;
  for (const WriteSet& writes : batch) {
    marks_.accepted = marks_.accepted.next();
    marks_.chain = detail::chain_next(marks_.chain, marks_.accepted, writes.event);
    events_.push_back(writes.event);
    for (const RowWrite& row : writes.rows) {
      Rows& table = rows(row.table);
      Undo undo{row.table, row.key, std::nullopt};
      if (const auto found = table.find(row.key); found != table.end())
        undo.before = std::move(found->second);
      if (row.value) {
        table.insert_or_assign(row.key, *row.value);
      } else {
        table.erase(row.key);
      }
      applied.undo.push_back(std::move(undo));
    }
  }
  applied.last = marks_.accepted;
  return applied;
}

Result<Sequence> MemoryJournal::append(std::span<const WriteSet> batch) {
  const std::lock_guard lock(mutex_);
  TROUPE_RETURN_IF_ERROR(check_usable());
  TROUPE_RETURN_IF_ERROR(detail::check_batch(batch));
  if (batch.empty())
    return marks_.accepted;
  if (auto fault = TROUPE_FAULT_STATUS("store.append.before_write"); !fault) {
    failed_ = fault.error();
    return std::move(fault).error();
  }
  undurable_.push_back(apply(batch));
  if (auto fault = TROUPE_FAULT_STATUS("store.append.after_write"); !fault) {
    failed_ = fault.error();
    return std::move(fault).error();
  }
  return marks_.accepted;
}

Result<Sequence> MemoryJournal::sync() {
  const std::lock_guard lock(mutex_);
  TROUPE_RETURN_IF_ERROR(check_usable());
  if (auto fault = TROUPE_FAULT_STATUS("store.sync.before"); !fault) {
    failed_ = fault.error();
    return std::move(fault).error();
  }
  undurable_.clear();
  marks_.durable = marks_.accepted;
  if (auto fault = TROUPE_FAULT_STATUS("store.sync.after"); !fault) {
    failed_ = fault.error();
    return std::move(fault).error();
  }
  return marks_.durable;
}

Status MemoryJournal::close() {
  TROUPE_RETURN_IF_ERROR(sync());
  const std::lock_guard lock(mutex_);
  closed_ = true;
  return ok();
}

Result<std::optional<std::string>> MemoryJournal::get(Table table, std::string_view key) const {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return detail::refuse_closed();
  const auto found = rows(table).find(key);
  if (found == rows(table).end())
    return std::optional<std::string>();
  return std::optional<std::string>(found->second);
}

Status MemoryJournal::scan(Table table, std::string_view prefix, const RowVisitor& visit) const {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return detail::refuse_closed();
  const Rows& all = rows(table);
  for (auto row = all.lower_bound(prefix); row != all.end() && row->first.starts_with(prefix);
       ++row)
    if (!visit(row->first, row->second))
      break;
  return ok();
}

Status MemoryJournal::events(Sequence after, const EventVisitor& visit) const {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return detail::refuse_closed();
  for (std::uint64_t number = after.value; number < events_.size(); ++number)
    if (!visit(Sequence(number + 1), events_[number]))
      break;
  return ok();
}

Result<std::string> MemoryJournal::event(Sequence sequence) const {
  const std::lock_guard lock(mutex_);
  if (closed_)
    return detail::refuse_closed();
  if (sequence.value == 0 || sequence > marks_.accepted)
    return detail::no_such_event(sequence, marks_.accepted);
  return events_[sequence.value - 1];
}

Watermarks MemoryJournal::watermarks() const {
  const std::lock_guard lock(mutex_);
  return marks_;
}

std::string MemoryJournal::store_id() const {
  return store_id_;
}

void MemoryJournal::crash() {
  const std::lock_guard lock(mutex_);
  reopen();
}

void MemoryJournal::power_loss(std::size_t surviving_batches) {
  const std::lock_guard lock(mutex_);
  while (undurable_.size() > surviving_batches) {
    Batch& lost = undurable_.back();
    for (auto undo = lost.undo.rbegin(); undo != lost.undo.rend(); ++undo) {
      if (undo->before) {
        rows(undo->table).insert_or_assign(undo->key, std::move(*undo->before));
      } else {
        rows(undo->table).erase(undo->key);
      }
    }
    marks_.chain = lost.chain_before;
    undurable_.pop_back();
    marks_.accepted = undurable_.empty() ? marks_.durable : undurable_.back().last;
    events_.resize(marks_.accepted.value);
  }
  reopen();
}

/// Opening flushes what it recovered: all of it is durable then.
void MemoryJournal::reopen() {
  failed_.reset();
  closed_ = false;
  undurable_.clear();
  marks_.durable = marks_.accepted;
}

std::size_t MemoryJournal::undurable_batches() const {
  const std::lock_guard lock(mutex_);
  return undurable_.size();
}

}  // namespace troupe
