#include <troupe/actors/detail/messages.hpp>
#include <troupe/actors/detail/meta_objects.hpp>
#include <troupe/base/version.hpp>

#include <string_view>

#include <caf/init_global_meta_objects.hpp>
#include <caf/json_writer.hpp>

namespace troupe::detail {

namespace {

/// FNV-1a: any change of any byte changes it, and that is all that is asked of it.
class Fingerprint {
public:
  void add(std::string_view text) {
    for (const char c : text) {
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    hash_ = (hash_ ^ 0xff) * 0x100000001b3ULL;
  }
  uint64_t value() const { return hash_; }

private:
  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

/// Adds the names of the fields of a message, and by sample values their order and nesting.
template <class T>
void add_layout(std::string& text, T sample) {
  caf::json_writer writer;
  writer.skip_empty_fields(false);
  if (!writer.apply(sample))
    text += "not inspectable";
  const auto json = writer.str();
  text.append(json.data(), json.size());
  text += '\n';
}

std::string layout_text() {
  std::string text = "troupe messages, caf " + std::to_string(CAF_MAJOR_VERSION) + '\n';
  using Block = caf::id_block::troupe_actors;
  for (caf::type_id_t id = Block::begin; id < Block::end; ++id) {
    const auto name = caf::query_type_name(id);
    text += std::to_string(id) + ' ';
    text.append(name.data(), name.size());
    text += '\n';
  }
  const CheckpointRef ref{1, 2, 3, 4, "d", "s"};
  // Handles cannot be written as JSON, and the hello never changes.
  text += "WorkerHello protocol version pid control\nWorkerWelcome setup controller\n";
  add_layout(text, WorkerSetup{});
  add_layout(text, Ping{});
  add_layout(text, Pong{});
  add_layout(text, CancelCall{});
  add_layout(text, WorkerStarted{});
  add_layout(text, TrialStarted{{}, {}, 1, 2, {3}, "n"});
  add_layout(text, ResetRefused{});
  add_layout(text, Reported{{}, {}, 1, 2, {{"a", 1}}, true, true, ref});
  add_layout(text, CheckpointSaved{{}, {}, ref});
  add_layout(text, TrialEnded{});
  add_layout(text, TrialFailed{});
  add_layout(text, WorkerExited{});
  add_layout(text, StopRequested{});
  add_layout(text, StartWorker{});
  add_layout(text, RunTrial{{}, {}, "t", {{"a", 1}}, "n", "d", true, 1, {ref}});
  add_layout(text, Answer{{}, {}, 1, Verdict::stop, 2});
  add_layout(text, StopTrial{{}, {}, 1});
  add_layout(text, StopWorker{});
  add_layout(text, DeleteCheckpoint{{}, "d", ref});
  return text;
}

}  // namespace

std::string protocol_text() {
  init_message_types();
  return layout_text();
}

uint64_t protocol_hash() {
  static const uint64_t hash = [] {
    Fingerprint fingerprint;
    fingerprint.add(protocol_text());
    return fingerprint.value();
  }();
  return hash;
}

void init_message_types() {
  static const bool once = [] {
    caf::init_global_meta_objects<caf::id_block::troupe_actors>();
    return true;
  }();
  (void)once;
}

}  // namespace troupe::detail
