#pragma once

#include <troupe/runtime/store/journal.hpp>

#include <functional>
#include <memory>
#include <string>

/// What every implementation of the journal must do. An implementation passes a `JournalFixture`
/// to `run_journal_suite` inside one TEST_CASE; each rule is a SUBCASE.
namespace troupe::testing {

/// One journal under test, and the accidents it can have. After an accident `journal()` is another
/// object over what survived.
class JournalFixture {
public:
  virtual ~JournalFixture() = default;
  virtual Journal& journal() = 0;
  /// Closes in good order and opens again.
  virtual void reopen() = 0;
  /// The process dies without warning and the store is opened again.
  virtual void crash() = 0;
};

using MakeFixture = std::function<std::unique_ptr<JournalFixture>()>;

void run_journal_suite(const MakeFixture& make);

}  // namespace troupe::testing
