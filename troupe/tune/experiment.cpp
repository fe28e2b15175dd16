#include <troupe/base/clock.hpp>
#include <troupe/base/file.hpp>
#include <troupe/base/log.hpp>
#include <troupe/tune/detail/stop_signals.hpp>
#include <troupe/tune/experiment.hpp>
#include <troupe/tune/experiment_follower.hpp>
#include <troupe/tune/report/progress_printer.hpp>
#include <troupe/tune/report/text.hpp>

#include <utility>

#include <unistd.h>

namespace troupe::tune {

namespace {

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// What people see of a run: the live progress, and the table at the end.
class Display {
public:
  Display(const ProgressBoard& board, std::int32_t verbose, Duration run_time_before)
      : board_(board), before_(run_time_before), options_(printer_options_for(STDERR_FILENO)) {
    if (verbose > 0)
      printer_ = std::make_unique<ProgressPrinter>(options_, [this] { return snapshot(); });
  }

  void say(std::string line) {
    if (printer_)
      printer_->line(std::move(line));
  }

  /// Ends the live progress and leaves the last picture.
  void close() {
    if (!printer_)
      return;
    printer_->stop();
    printer_.reset();
    const ProgressStyle style{.width = terminal_columns(options_.fd), .color = options_.color};
    const Status shown = write_all(options_.fd, render_progress(snapshot(), style), "progress");
    if (!shown)
      log::debug("progress could not be shown", {{"error", shown.error()}});
  }

private:
  ProgressSnapshot snapshot() const {
    const Duration run_time = before_ + (real_clock().now() - start_);
    return board_.snapshot(real_clock().wall_ms(), seconds(run_time));
  }

  const ProgressBoard& board_;
  const Duration before_;
  const TimePoint start_ = real_clock().now();
  const PrinterOptions options_;
  std::unique_ptr<ProgressPrinter> printer_;
};

}  // namespace

Experiment::Experiment(Runtime& runtime, std::unique_ptr<TrialLoop> loop,
                       std::unique_ptr<Journal> journal, ExperimentOptions options)
    : runtime_(runtime),
      loop_(std::move(loop)),
      journal_(std::move(journal)),
      options_(std::move(options)) {}

Status Experiment::control() {
  const ExperimentSpec& spec = loop_->spec();
  Controller controller(runtime_, *loop_, *journal_,
                        {.experiment_name = spec.name,
                         .durability = spec.durability,
                         .step_timeout = spec.step_timeout.value_or(Duration::zero()),
                         .setup_timeout = spec.setup_timeout.value_or(Duration::zero()),
                         .log_to_file = spec.log_to_file});
  {
    const std::lock_guard lock(mutex_);
    controller_ = &controller;
    if (!stop_reason_.empty())
      controller.request_stop(stop_reason_);
  }
  Status status = controller.wait();
  const std::lock_guard lock(mutex_);
  controller_ = nullptr;
  return status;
}

Status Experiment::run() {
  const ExperimentSpec& spec = loop_->spec();
  ProgressBoard board(board_options(spec, options_.dir, options_.planned, runtime_.cpus()));
  Display display(board, options_.verbose, loop_->status().run_time);
  ProgressFeed feed(board, options_.dir, options_.verbose > 1,
                    [&](std::string line) { display.say(std::move(line)); });
  TROUPE_RETURN_IF_ERROR(feed.load(*journal_));

  Status status = ok();
  {
    ExperimentFollower follower(*journal_, options_.dir, spec.result_files, &feed);
    {
      std::optional<detail::StopSignals> signals;
      if (options_.handle_signals) {
        signals.emplace([&](const char* name) {
          display.say(std::string(name) + ": stopping; once more to end at once");
          request_stop(name);
        });
      }
      status = control();
    }
    const Status written = follower.finish([&](uint64_t events) {
      display.say("writing result files: " + plural(events, "event") + " to go");
    });
    if (!written)
      log::warning("result files are incomplete", {{"error", written.error()}});
  }
  display.close();
  Status closed = journal_->close();
  return status ? std::move(closed) : std::move(status);
}

void Experiment::request_stop(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!stop_reason_.empty())
    return;
  stop_reason_ = reason;
  if (controller_ != nullptr)
    controller_->request_stop(reason);
}

}  // namespace troupe::tune
