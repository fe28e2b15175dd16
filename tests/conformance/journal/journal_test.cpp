#include <troupe/runtime/store/memory_journal.hpp>
#include <troupe/runtime/store/store.hpp>

#include <doctest/doctest.h>

#include "tests/conformance/journal/journal_suite.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::testing {
namespace {

class MemoryFixture final : public JournalFixture {
public:
  Journal& journal() override { return journal_; }
  void reopen() override {
    journal_.close().value_or_throw();
    journal_.crash();
  }
  void crash() override { journal_.crash(); }

private:
  MemoryJournal journal_;
};

class RocksFixture final : public JournalFixture {
public:
  RocksFixture() : folder_("journal") { open(OpenMode::create); }
  Journal& journal() override { return *journal_; }
  void reopen() override {
    journal_->close().value_or_throw();
    open(OpenMode::existing);
  }
  /// Destroying an open journal leaves what a crash would: nothing is synced, no witness is
  /// written.
  void crash() override {
    journal_.reset();
    open(OpenMode::existing);
  }

private:
  void open(OpenMode mode) {
    journal_.reset();
    auto opened = open_store({.experiment_dir = folder_.path() / "experiment", .mode = mode});
    journal_ = std::move(opened).value_or_throw().journal;
  }

  ScratchFolder folder_;
  std::unique_ptr<Journal> journal_;
};

}  // namespace

TEST_CASE("the journal in memory keeps the contract") {
  run_journal_suite([] { return std::make_unique<MemoryFixture>(); });
}

TEST_CASE("the journal in RocksDB keeps the contract") {
  run_journal_suite([] { return std::make_unique<RocksFixture>(); });
}

}  // namespace troupe::testing
