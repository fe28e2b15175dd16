#include <troupe/runtime/store/detail/examine.hpp>
#include <troupe/runtime/store/detail/verify.hpp>
#include <troupe/runtime/store/detail/write_rules.hpp>
#include <troupe/runtime/store/keys.hpp>
#include <troupe/serialization/envelope.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace troupe::detail {
namespace {

constexpr std::size_t max_findings = 100;
constexpr const char* restore_or_accept =
    "restore the folder from a backup, or keep what is sound with `troupe doctor --accept-loss`";

class Examiner {
public:
  Examiner(const View& view, Findings& findings) : view_(view), findings_(findings) {}

  Examination run(bool live) {
    read_identity();
    read_events();
    for (std::size_t i = 1; i <= table_count; ++i)
      read_table(static_cast<Table>(i));
    if (!live)
      verify_files();
    return std::move(result_);
  }

private:
  void damage(std::string place, std::string what) {
    findings_.add(Severity::damage, std::move(place), std::move(what), restore_or_accept);
  }

  void read_identity() {
    if (auto schema = view_.schema()) {
      result_.schema = schema.take();
    } else {
      damage("schema record", schema.error().message());
    }
    if (auto id = view_.store_id()) {
      result_.store_id = id.take();
    } else {
      damage("identity record", id.error().message());
    }
    if (auto mark = view_.high_water()) {
      result_.claimed = *mark;
    } else {
      damage("high-water record", mark.error().message());
    }
  }

  void read_events() {
    const auto status = view_.pairs(index_of(Family::events), "", [&](auto key, auto value) {
      read_event(key, value);
      return true;
    });
    if (!status) {
      damage("events", "can not be read to their end: " + status.error().message());
      run_ended_ = true;
    }
    if (!run_ended_ && result_.good.sequence < result_.claimed.sequence)
      damage("events", "they end at " + to_string(result_.good.sequence) +
                           " and the high-water mark is at " + to_string(result_.claimed.sequence));
    if (!run_ended_ && result_.good.sequence == result_.claimed.sequence &&
        result_.good.chain != result_.claimed.chain)
      damage("high-water record", "does not fit the chain of the events");
  }

  void read_event(std::string_view key, std::string_view value) {
    ++result_.events;
    const Sequence expected = result_.good.sequence.next();
    const auto sequence = parse_event_key(key);
    const auto stored = parse_event(value);
    const std::string place =
        sequence ? "event " + to_string(*sequence) : "an event with key " + show_key(key);
    std::string wrong;
    if (!sequence) {
      wrong = sequence.error().message();
    } else if (!stored) {
      wrong = stored.error().message();
    } else if (auto envelope = open_any_envelope(stored->event); !envelope) {
      wrong = "its record is damaged: " + envelope.error().message();
    } else if (!run_ended_ && *sequence != expected) {
      wrong = "follows event " + to_string(result_.good.sequence) + ": " +
              std::to_string(sequence->value - expected.value) + " before it are missing";
    } else if (!run_ended_ &&
               chain_next(result_.good.chain, *sequence, stored->event) != stored->chain) {
      wrong = "does not fit the chain: it, or its chain value, is not what was written";
    }
    if (!wrong.empty()) {
      damage(place, wrong);
      run_ended_ = true;
    } else if (!run_ended_) {
      result_.good = {*sequence, stored->chain};
    }
  }

  void read_table(Table table) {
    const auto status = view_.pairs(index_of(table), "", [&](auto key, auto value) {
      ++result_.rows;
      if (auto wrong = wrong_with_row(table, key, value, result_.good.sequence); !wrong.empty())
        row_damage("table " + std::string(to_string(table)) + ", key " + show_key(key),
                   std::move(wrong));
      return true;
    });
    if (!status)
      row_damage("table " + std::string(to_string(table)),
                 "can not be read to its end: " + status.error().message());
  }

  void row_damage(std::string place, std::string what) {
    result_.rows_sound = false;
    damage(std::move(place), std::move(what));
  }

  void verify_files() {
    const auto status = view_.database().db().VerifyChecksum();
    if (status.ok())
      return;
    result_.files_sound = false;
    damage("table files", status.ToString());
  }

  const View& view_;
  Findings& findings_;
  Examination result_;
  bool run_ended_ = false;
};

}  // namespace

std::string wrong_with_row(Table table, std::string_view key, std::string_view value,
                           Sequence last) {
  const auto row = parse_row(value);
  if (!row)
    return row.error().message();
  if (const auto envelope = open_any_envelope(row->record); !envelope)
    return "its record is damaged: " + envelope.error().message();
  if (row->written_with.value == 0 || row->written_with > last)
    return "was written with event " + to_string(row->written_with) + ", which is not there";
  if (table != Table::results)
    return {};
  if (!keys::parse_result_key(key))
    return "its key is not a trial and an iteration";
  const auto pointer = decode<EventPointer>(row->record);
  if (!pointer)
    return pointer.error().message();
  if (pointer->sequence.value == 0 || pointer->sequence > last)
    return "points at event " + to_string(pointer->sequence) + ", which is not there";
  return {};
}

void Findings::add(Severity severity, std::string place, std::string what, std::string remedy) {
  if (findings_.size() + 1 < max_findings) {
    findings_.push_back({severity, std::move(place), std::move(what), std::move(remedy)});
    return;
  }
  ++left_out_;
  damage_left_out_ = damage_left_out_ || severity == Severity::damage;
}

bool Findings::any(Severity severity) const {
  if (severity == Severity::damage && damage_left_out_)
    return true;
  return std::any_of(findings_.begin(), findings_.end(),
                     [&](const Finding& finding) { return finding.severity == severity; });
}

std::vector<Finding> Findings::take() {
  if (left_out_ > 0)
    findings_.push_back({damage_left_out_ ? Severity::damage : Severity::note,
                         "further findings",
                         std::to_string(left_out_) + " more of the same kinds were left out",
                         {}});
  left_out_ = 0;
  return std::move(findings_);
}

Examination examine(const View& view, bool live, Findings& findings) {
  return Examiner(view, findings).run(live);
}

}  // namespace troupe::detail
