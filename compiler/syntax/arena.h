// Bump allocator for syntax trees. Nodes live as long as their tree and are never freed individually.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace radl {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  void* allocate(size_t size, size_t align) {
    size_t at = (used_ + align - 1) & ~(align - 1);
    if (at + size > capacity_) {
      grow(size + align);
      at = (used_ + align - 1) & ~(align - 1);
    }
    used_ = at + size;
    return block_ + at;
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* to = static_cast<char*>(allocate(text.size(), 1));
    std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }

  size_t bytes() const { return total_; }  // allocated from the system

 private:
  // Blocks grow, so that small files need little memory and large files few allocations.
  void grow(size_t least) {
    capacity_ = std::max(next_, least);
    next_ = std::min(next_ * 8, size_t{2} << 20);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(capacity_));
    block_ = blocks_.back().get();
    used_ = 0;
    total_ += capacity_;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* block_ = nullptr;
  size_t used_ = 0, capacity_ = 0, next_ = 4096, total_ = 0;
};

// A growing array in an arena. Trivially copyable; a copy shares the elements.
template <class T>
class List {
 public:
  void push(Arena& arena, T value) {
    if (size_ == capacity_) reserve(arena, capacity_ == 0 ? 4 : capacity_ * 2);
    data_[size_++] = value;
  }
  // Appends an element for the caller to fill in.
  T& grow(Arena& arena) {
    if (size_ == capacity_) reserve(arena, capacity_ == 0 ? 4 : capacity_ * 2);
    return *new (data_ + size_++) T;
  }
  // Reserves room for `capacity` elements in total.
  void reserve(Arena& arena, uint32_t capacity) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (capacity <= capacity_) return;
    T* data = static_cast<T*>(arena.allocate(sizeof(T) * capacity, alignof(T)));
    if (size_ != 0) std::memcpy(static_cast<void*>(data), data_, sizeof(T) * size_);
    data_ = data;
    capacity_ = capacity;
  }
  void pop() {
    assert(size_ != 0);
    --size_;
  }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) const {
    assert(i < size_);
    return data_[i];
  }
  T& back() const {
    assert(size_ != 0);
    return data_[size_ - 1];
  }

 private:
  T* data_ = nullptr;
  uint32_t size_ = 0, capacity_ = 0;
};

}  // namespace radl
