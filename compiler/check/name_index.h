// Names to numbers, in an arena: a document has many names, and most of its sets are small and short-lived.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "compiler/syntax/arena.h"

namespace radl::sema {

// Trivially copyable, as all that lives in an arena. The names' bytes must outlive it.
class NameIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t find(std::string_view name) const {
    if (size_ == 0) return kNone;
    for (uint32_t at = hash(name) & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.value == kNone || slot.is(name)) return slot.value;
    }
  }
  bool contains(std::string_view name) const { return find(name) != kNone; }

  // Room for so many names, at once.
  void reserve(Arena& arena, size_t names) {
    uint32_t wanted = 32;
    while (wanted < names * 2 + 2) wanted *= 2;
    if (wanted > capacity()) grow_to(arena, wanted);
  }

  // The number that the name has now, and whether it is new.
  std::pair<uint32_t, bool> insert(Arena& arena, std::string_view name, uint32_t value) {
    if (size_ * 2 >= capacity()) grow_to(arena, capacity() == 0 ? 32 : capacity() * 2);
    uint32_t at = hash(name) & mask_;
    for (; slots_[at].value != kNone; at = (at + 1) & mask_)
      if (slots_[at].is(name)) return {slots_[at].value, false};
    slots_[at] = {name.data(), static_cast<uint32_t>(name.size()), value};
    ++size_;
    return {value, true};
  }

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t size = 0;
    uint32_t value = kNone;  // kNone: free
    bool is(std::string_view name) const { return std::string_view(data, size) == name; }
  };

  uint32_t capacity() const { return slots_ ? mask_ + 1 : 0; }

  template <class T>
  static uint64_t load(const char* from) {
    T out;
    std::memcpy(&out, from, sizeof out);
    return out;
  }
  // All 128 bits of the product: digits at the end of a name must reach the low bits.
  static uint64_t mix(uint64_t value) {
    auto product = static_cast<unsigned __int128>(value) * 0x9E3779B97F4A7C15u;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  static uint32_t hash(std::string_view name) {
    const char *at = name.data(), *end = at + name.size();
    size_t size = name.size();
    uint64_t out = size;
    if (size >= 8) {
      for (; end - at > 8; at += 8) out = mix(out ^ load<uint64_t>(at));
      return static_cast<uint32_t>(mix(out ^ load<uint64_t>(end - 8)));
    }
    if (size >= 4)
      return static_cast<uint32_t>(mix(out ^ (load<uint32_t>(at) << 32 | load<uint32_t>(end - 4))));
    for (; at != end; ++at) out = out << 8 | static_cast<unsigned char>(*at);
    return static_cast<uint32_t>(mix(out));
  }

  void grow_to(Arena& arena, uint32_t made_capacity) {
    const uint32_t old_capacity = capacity();
    Slot* old = slots_;
    slots_ = static_cast<Slot*>(arena.allocate(sizeof(Slot) * made_capacity, alignof(Slot)));
    for (uint32_t i = 0; i < made_capacity; ++i) new (slots_ + i) Slot();
    mask_ = made_capacity - 1;
    for (uint32_t i = 0; i < old_capacity; ++i) {
      if (old[i].value == kNone) continue;
      uint32_t at = hash({old[i].data, old[i].size}) & mask_;
      while (slots_[at].value != kNone) at = (at + 1) & mask_;
      slots_[at] = old[i];
    }
  }

  Slot* slots_ = nullptr;
  uint32_t mask_ = 0, size_ = 0;
};

}  // namespace radl::sema
