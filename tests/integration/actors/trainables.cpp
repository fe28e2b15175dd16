// What the tests of this folder run, in worker processes (this program, started again) and threads.
#include <troupe/actors/registry.hpp>
#include <troupe/actors/runtime.hpp>
#include <troupe/actors/session.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <tests/integration/actors/fixture.hpp>
#include <unistd.h>

namespace {

/// A driver with a worker that never ends; it writes its number into `fifo`.
[[noreturn]] void drive(const char* fifo) {
  using namespace troupe::testing;
  Stage stage;
  stage.add("Counter", {{"announce", fifo}}).stop_after = UINT64_MAX;
  const troupe::Status result = stage.play();
  std::exit(result ? 0 : 1);
}

}  // namespace

void troupe_test_start(int argc, char** argv);
void troupe_test_start(int argc, char** argv) {
  const rlimit no_core_files{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core_files);
  const char* variable = std::getenv("TROUPE_TEST_WORKER");
  const std::string how = argc > 1 && variable ? variable : "";
  if (how == "hangs") {
    for (;;)
      ::pause();
  }
  if (how == "crashes") {
    std::fprintf(stderr, "unknown option %s\n", argv[1]);
    std::exit(2);
  }
  if (how == "forgets")
    troupe::Runtime runtime;
  troupe::run_worker_if_asked(argc, argv);
  if (argc > 2 && std::string(argv[1]) == "--drive")
    drive(argv[2]);
}

namespace troupe::testing {
std::atomic<bool> endless_step{true};
std::atomic<int> hanging_calls{0};
}  // namespace troupe::testing

namespace {

using namespace troupe;
using troupe::testing::endless_step;

class Counter : public Trainable {
public:
  void setup(const Config& config) override {
    reset_config(config);
    if (!config.contains("announce"))
      return;
    std::ofstream(config.at("announce").as_string()) << ::getpid() << std::endl;
  }
  Metrics step() override {
    ++value_;
    ++steps_of_object_;
    return {{"value", value_},
            {"pid", static_cast<int64_t>(::getpid())},
            {"steps_of_object", steps_of_object_}};
  }
  bool reset_config(const Config& config) override {
    if (config.contains("refuse"))
      return false;
    value_ = config.contains("start") ? config.at("start").as_int() : 0;
    return true;
  }
  void save_checkpoint(const std::filesystem::path& folder) override {
    std::ofstream(folder / "value") << value_;
  }
  void load_checkpoint(const std::filesystem::path& folder) override {
    std::ifstream(folder / "value") >> value_;
  }

private:
  int64_t value_ = 0;
  int64_t steps_of_object_ = 0;
};
TROUPE_TRAINABLE(Counter);

/// Does in its second step what "do" says.
class Misbehaves : public Trainable {
public:
  void setup(const Config& config) override { what_ = config.at("do").as_string(); }
  Metrics step() override {
    if (++steps_ == 2)
      act();
    return {{"steps", steps_}};
  }

private:
  void act() {
    std::printf("about to %s\n", what_.c_str());
    if (what_ == "throw")
      throw std::domain_error("the learning rate is negative");
    if (what_ == "throw_int")
      throw 42;
    if (what_ == "abort")
      std::abort();
    if (what_ == "segv") {
      ::signal(SIGSEGV, SIG_DFL);  // sanitizers take it for themselves
      ::raise(SIGSEGV);
    }
    if (what_ == "exit")
      std::exit(3);
    if (what_ == "quick_exit")
      ::_exit(4);
    if (what_ == "kill")
      ::kill(::getpid(), SIGKILL);
    if (what_ == "loop") {
      while (endless_step) {
      }
    }
    if (what_ == "cooperate") {
      while (!should_stop())
        std::this_thread::yield();
    }
    if (what_ == "stop")
      ::raise(SIGSTOP);
    if (what_ == "allocate")
      allocate();
    if (what_ == "pthread_exit")
      ::pthread_exit(nullptr);
    if (what_ == "close_files") {
      for (int fd = 3; fd < 1024; ++fd)
        ::close(fd);
    }
    if (what_ == "spam") {
      for (int i = 0; i < 200'000; ++i)
        std::printf("line %d of a very talkative step\n", i);
      throw std::runtime_error("done talking");
    }
  }
  static void allocate() {
    std::vector<std::unique_ptr<char[]>> blocks;
    while (blocks.size() < 2048) {  // a limit that does not hold must not take the machine down
      blocks.push_back(std::make_unique<char[]>(std::size_t{1} << 20));
      std::memset(blocks.back().get(), 1, std::size_t{1} << 20);
    }
  }

  std::string what_;
  int64_t steps_ = 0;
};
TROUPE_TRAINABLE(Misbehaves);

void hang() {
  troupe::testing::hanging_calls.wait(troupe::testing::hanging_calls.load());
}

/// The call that "in" names never ends; of "destructor" the one after a step that failed.
class Hangs : public Trainable {
public:
  ~Hangs() override { hang_in("destructor"); }
  void setup(const Config& config) override {
    in_ = config.at("in").as_string();
    hang_in("setup");
  }
  Metrics step() override {
    hang_in("step");
    if (in_ == "destructor")
      throw std::runtime_error("the real reason");
    return {{"x", 1}};
  }
  bool reset_config(const Config& config) override {
    in_ = config.at("in").as_string();
    hang_in("reset_config");
    return true;
  }
  void save_checkpoint(const std::filesystem::path& folder) override {
    hang_in("save_checkpoint");
    std::ofstream(folder / "x") << 1;
  }
  void load_checkpoint(const std::filesystem::path&) override { hang_in("load_checkpoint"); }
  void cleanup() override { hang_in("cleanup"); }

private:
  void hang_in(const char* call) const {
    if (in_ == call)
      hang();
  }

  std::string in_;
};
TROUPE_TRAINABLE(Hangs);

/// Never ends after its first report.
void hangs_between_reports(const Config&) {
  report({{"x", 1}});
  hang();
}
TROUPE_TRAINABLE_FUNCTION(hangs_between_reports);

/// Takes the end of its trial for an error, and never returns.
void swallows_its_end(const Config&) {
  try {
    report({{"x", 1}});
  } catch (...) {
    hang();
  }
}
TROUPE_TRAINABLE_FUNCTION(swallows_its_end);

/// Never gets through its destructors when its trial is over.
void hangs_in_unwinding(const Config&) {
  struct Guard {
    ~Guard() { hang(); }
  };
  const Guard guard;
  report({{"x", 1}});
}
TROUPE_TRAINABLE_FUNCTION(hangs_in_unwinding);

/// Reports "reports" times, then returns {"last": 1} or nothing.
Metrics reporter(const Config& config) {
  const auto start = get_checkpoint();
  int64_t done = 0;
  if (start)
    std::ifstream(start->directory() / "done") >> done;
  const int64_t count = config.at("reports").as_int();
  while (done < count) {
    ++done;
    if (!config.contains("save")) {
      report({{"done_so_far", done}});
      continue;
    }
    const auto folder = get_context().trial_dir / "work";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "done") << done;
    report({{"done_so_far", done}}, Checkpoint::from_directory(folder));
  }
  if (config.contains("last"))
    return {{"last", 1}};
  return {};
}
TROUPE_TRAINABLE_FUNCTION(reporter);

}  // namespace
