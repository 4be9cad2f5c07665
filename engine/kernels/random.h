// Counter-based random bits: the same key and index give the same number on every machine and thread count.
#pragma once

#include <cstdint>

namespace radl::engine {

// The finalizer of splitmix64 (Steele, Lea and Flood 2014).
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

constexpr uint64_t dropout_key(uint64_t seed, uint64_t layer, uint64_t step) {
  return mix64(mix64(mix64(seed) ^ layer) ^ step);
}

// True if dropout keeps element `index`; `threshold` = rate * 2^32.
constexpr bool dropout_keeps(uint64_t key, uint64_t index, uint32_t threshold) {
  return static_cast<uint32_t>(mix64(key ^ index) >> 32) >= threshold;
}

}  // namespace radl::engine
