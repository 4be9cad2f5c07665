// Aligned memory with a fixed size, and element types.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace radl::engine {

enum class Type : uint8_t { F32, Bf16 };

constexpr size_t size_of(Type type) { return type == Type::F32 ? 4 : 2; }

// Storage of a bfloat16: the upper half of a float.
struct bf16 {
  uint16_t bits;
};

inline float to_float(bf16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }
inline float to_float(float x) { return x; }

// Rounds to nearest even; keeps NaN.
inline bf16 to_bf16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  if ((u & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>((u >> 16) | 0x40)};
  return {static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16)};
}

// Zeroed bytes, aligned to 64 bytes (large buffers: to 4 KiB, with huge pages).
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);
  std::byte* data() { return data_.get(); }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_.get());
  }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

// Memory still available to this process, limited by the machine and its control group, in bytes.
size_t available_memory();

}  // namespace radl::engine
