// What the tests of this folder tune, in worker processes (this program, started again) and
// threads.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/resource.h>
#include <tests/integration/tune/lab.hpp>
#include <unistd.h>

void troupe_test_start(int argc, char** argv);
void troupe_test_start(int argc, char** argv) {
  const rlimit no_core_files{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core_files);
  troupe::run_worker_if_asked(argc, argv);
}

namespace troupe::testing {
std::atomic<int> endless_steps{0};
}

namespace {

using namespace troupe;
namespace fs = std::filesystem;

/// Done after "steps" (5) steps. Says how many trials its object had before.
class Quadratic : public tune::Trainable {
public:
  void setup(const Config& config) override { reset_config(config); }
  Metrics step() override {
    const double x = config_.at("x").as_double();
    ++steps_;
    return {{"loss", (x - 3) * (x - 3) / static_cast<double>(steps_)},
            {"objects_trials", trials_},
            {"pid", static_cast<std::int64_t>(::getpid())},
            {"done", steps_ == config_.get_or("steps", 5).as_int()}};
  }
  bool reset_config(const Config& config) override {
    config_ = config;
    steps_ = 0;
    ++trials_;
    return true;
  }

private:
  Config config_;
  std::int64_t steps_ = 0;
  std::int64_t trials_ = 0;
};
TROUPE_TRAINABLE(Quadratic);

/// The same without a way to be used again.
class NoReset : public Quadratic {
public:
  bool reset_config(const Config&) override { return false; }
  void setup(const Config& config) override { Quadratic::reset_config(config); }
};
TROUPE_TRAINABLE(NoReset);

/// Prints the name of its trial in each of two steps.
class Talks : public tune::Trainable {
public:
  void setup(const Config&) override { steps_ = 0; }
  Metrics step() override {
    std::printf("I am %s\n", tune::get_context().trial_name.c_str());
    return {{"loss", 1.0}, {"done", ++steps_ == 2}};
  }
  bool reset_config(const Config&) override {
    steps_ = 0;
    return true;
  }

private:
  int steps_ = 0;
};
TROUPE_TRAINABLE(Talks);

/// Adds "x" to a sum in each step and keeps the sum in checkpoints. In its first attempt it fails
/// at iteration "fail_at".
class Summing : public tune::Trainable {
public:
  void setup(const Config& config) override { config_ = config; }
  Metrics step() override {
    ++steps_;
    sum_ += config_.at("x").as_double();
    const tune::TrialContext& context = tune::get_context();
    const bool first = context.attempt == 0;
    if (first && steps_ == config_.get_or("fail_at", 0).as_int())
      throw std::runtime_error("as asked");
    if (config_.contains("damage") && first && steps_ == 5)
      damage(context.trial_dir);
    return {{"sum", sum_}, {"loss", -sum_}, {"done", steps_ == 6}};
  }
  void save_checkpoint(const fs::path& folder) override {
    std::ofstream(folder / "sum") << steps_ << ' ' << sum_;
  }
  void load_checkpoint(const fs::path& folder) override {
    std::ifstream(folder / "sum") >> steps_ >> sum_;
  }

private:
  /// Damages the newest checkpoint, then fails.
  static void damage(const fs::path& trial_dir) {
    fs::path newest;
    for (const auto& entry : fs::directory_iterator(trial_dir)) {
      const bool is_checkpoint = entry.path().filename().string().starts_with("checkpoint_");
      if (is_checkpoint && entry.path() > newest)
        newest = entry.path();
    }
    std::ofstream(newest / "sum", std::ios::in | std::ios::out) << '9';
    throw std::runtime_error("and its newest checkpoint is damaged");
  }

  Config config_;
  std::int64_t steps_ = 0;
  double sum_ = 0;
};
TROUPE_TRAINABLE(Summing);

/// Does in its second step what "do" says; "nothing" is well.
class Misbehaves : public tune::Trainable {
public:
  void setup(const Config& config) override {
    what_ = config.at("do").as_string();
    if (what_ == "loop in setup")
      loop();
  }
  Metrics step() override {
    if (++steps_ == 2)
      act();
    return {{"loss", 1.0}, {"done", steps_ == 3}};
  }
  void cleanup() override {
    if (what_ == "fail in cleanup")
      throw std::runtime_error("the lock file is gone");
  }

private:
  static void loop() {
    const int before = testing::endless_steps;
    while (testing::endless_steps == before)
      std::this_thread::yield();
  }
  void act() {
    std::printf("about to %s\n", what_.c_str());
    if (what_ == "throw")
      throw std::domain_error("the learning rate is negative");
    if (what_ == "abort")
      std::abort();
    if (what_ == "segv") {
      ::signal(SIGSEGV, SIG_DFL);  // sanitizers take it for themselves
      ::raise(SIGSEGV);
    }
    if (what_ == "exit")
      std::exit(3);
    if (what_ == "loop")
      loop();
    const bool first = tune::get_context().attempt == 0;
    if (what_ == "stop" || (what_ == "stop once" && first))
      ::raise(SIGSTOP);
    if (what_ == "signals") {
      ::raise(SIGTERM);
      ::raise(SIGINT);
    }
    if (what_ == "allocate") {
      std::vector<std::unique_ptr<char[]>> blocks;
      while (blocks.size() < 2048) {  // a limit that does not hold must not take the machine down
        blocks.push_back(std::make_unique<char[]>(std::size_t{1} << 20));
        std::memset(blocks.back().get(), 1, std::size_t{1} << 20);
      }
    }
  }

  std::string what_;
  int steps_ = 0;
};
TROUPE_TRAINABLE(Misbehaves);

/// Reports without end, some hundred times a second, until it is told to stop.
class Endless : public tune::Trainable {
public:
  Metrics step() override {
    // What a step takes: an experiment without end must not fill the disk.
    constexpr std::chrono::milliseconds pace(2);
    std::this_thread::sleep_for(pace);  // style: allow(sleep_for) the pace of a step
    return {{"loss", 1.0 / static_cast<double>(++steps_)}};
  }
  void save_checkpoint(const fs::path& folder) override {
    std::ofstream(folder / "steps") << steps_;
  }
  void load_checkpoint(const fs::path& folder) override {
    std::ifstream(folder / "steps") >> steps_;
  }

private:
  std::int64_t steps_ = 0;
};
TROUPE_TRAINABLE(Endless);

/// A function that counts up to "to", with a checkpoint at each report. Fails once at "fail_at".
Metrics counting(const Config& config) {
  std::int64_t count = 0;
  if (const auto checkpoint = tune::get_checkpoint())
    std::ifstream(checkpoint->directory() / "count") >> count;
  const fs::path scratch = tune::get_context().trial_dir / "scratch";
  fs::create_directories(scratch);
  while (count < config.at("to").as_int()) {
    ++count;
    std::ofstream(scratch / "count") << count;
    Metrics metrics{{"count", count}};
    if (count == config.get_or("too_large_at", 0).as_int())
      metrics["text"] = std::string(std::size_t{5} << 20, 'x');
    tune::report(metrics, tune::Checkpoint::from_directory(scratch));
    const bool first = tune::get_context().attempt == 0;
    if (first && count == config.get_or("fail_at", 0).as_int())
      throw std::runtime_error("as asked");
  }
  return {};
}
TROUPE_TRAINABLE_FUNCTION(counting);

/// Reports nothing.
void nothing(const Config&) {}
TROUPE_TRAINABLE_FUNCTION(nothing);

double square(const Config& config) {
  const double x = config.at("x").as_double();
  return x * x;
}
TROUPE_TRAINABLE_FUNCTION(square);

}  // namespace
