#pragma once

#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/tune/experiment_reader.hpp>

#include <atomic>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <tests/integration/tune/lab.hpp>
#include <tests/support/child_program.hpp>

namespace troupe::testing {

/// An experiment that runs on a thread of its own while the test looks on.
class LiveRun {
public:
  LiveRun(Lab& lab, const std::string& trainable, tune::TunerOptions options)
      : LiveRun(tune::Tuner(lab.runtime, trainable, std::move(options)), lab.dir()) {}

  LiveRun(tune::Tuner tuner, std::filesystem::path dir)
      : tuner_(std::move(tuner)), dir_(std::move(dir)), thread_([this] { run(); }) {}

  ~LiveRun() {
    if (thread_.joinable())
      finish();
  }
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// Waits until at least so many results are accepted; false: it never came so far.
  bool wait_for_results(std::uint64_t count) {
    return eventually([&] { return results_so_far() >= count || failed_; }) && !failed_;
  }

  tune::ResultGrid stop() {
    finish();
    if (error_)
      std::rethrow_exception(error_);
    return *results_;
  }

private:
  void run() {
    try {
      results_ = tuner_.fit();
    } catch (...) {
      error_ = std::current_exception();
      failed_ = true;
    }
  }

  void finish() {
    tuner_.request_stop("the test asks");
    thread_.join();
  }

  std::uint64_t results_so_far() {
    if (!reader_) {
      auto opened = open_secondary(dir_);
      if (!opened)
        return 0;  // not made yet
      reader_ = opened.take();
    }
    if (!reader_->refresh())
      return 0;
    const Status read = tune::for_each_event(
        *reader_, seen_, [&](Sequence sequence, const tune::EventRecord& event) {
          seen_ = sequence;
          if (tune::result_of(sequence, event))
            ++count_;
          return true;
        });
    return read ? count_ : 0;
  }

  tune::Tuner tuner_;
  const std::filesystem::path dir_;
  std::unique_ptr<SecondaryReader> reader_;
  Sequence seen_;
  std::uint64_t count_ = 0;
  std::optional<tune::ResultGrid> results_;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

}  // namespace troupe::testing
