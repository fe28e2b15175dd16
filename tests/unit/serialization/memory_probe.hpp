#pragma once

#include <cstddef>

/// Counts what `operator new` hands out in this test program, to show that a decoder allocates no
/// more than its input explains. Not thread safe: the tests here have one thread.
namespace troupe::test {

/// Bytes alive at the worst moment since construction, beyond those alive then.
class MemoryProbe {
public:
  MemoryProbe();
  [[nodiscard]] std::size_t peak_bytes() const;

private:
  std::size_t start_;
};

}  // namespace troupe::test
