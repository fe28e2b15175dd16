#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

/// A test program whose worker processes are the program itself defines this and calls
/// `troupe::run_worker_if_asked` in it. Runs before any test.
__attribute__((weak)) void troupe_test_start(int argc, char** argv);

int main(int argc, char** argv) {
  if (troupe_test_start != nullptr)
    troupe_test_start(argc, argv);
  return doctest::Context(argc, argv).run();
}
