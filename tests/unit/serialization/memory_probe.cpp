#include "memory_probe.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

std::size_t alive = 0;
std::size_t peak = 0;

void* allocate(std::size_t size) {
  void* const p = std::malloc(size);
  if (p == nullptr)
    throw std::bad_alloc();
  alive += ::malloc_usable_size(p);
  peak = std::max(peak, alive);
  return p;
}

void release(void* p) noexcept {
  if (p == nullptr)
    return;
  alive -= ::malloc_usable_size(p);
  std::free(p);
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  release(p);
}

namespace troupe::test {

MemoryProbe::MemoryProbe() : start_(alive) {
  peak = alive;
}

std::size_t MemoryProbe::peak_bytes() const {
  return peak - start_;
}

}  // namespace troupe::test
