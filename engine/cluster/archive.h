// Writes and reads the members that fields() below names: numbers and enumerations as they lie in memory,
// texts with a 4-byte length, vectors with an 8-byte count.
#pragma once

#include <bit>
#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian, and so must be the machine");

// T or const T: one fields() serves the Writer and the Reader.
template <class M, class T>
concept Is = std::same_as<std::remove_const_t<M>, T>;

template <class T>
concept Plain = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

// The fewest bytes that one element of a list of structures takes; bounds what a count may say.
template <class T>
inline constexpr size_t kLeastBytes = 0;

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <Plain T>
  void operator()(const T& value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(bool value) { (*this)(static_cast<uint8_t>(value)); }
  void operator()(Role role) { (*this)(static_cast<uint8_t>(role)); }
  void operator()(Numbers encoding) { (*this)(static_cast<uint8_t>(encoding)); }
  void operator()(Norms norms) { (*this)(static_cast<uint8_t>(norms)); }
  void operator()(Replica replica) { (*this)(static_cast<uint8_t>(replica)); }
  void operator()(AverageConfig::Kind kind) { (*this)(static_cast<uint8_t>(kind)); }
  void operator()(const std::string& text) {
    (*this)(static_cast<uint32_t>(text.size()));
    out_.append(text);
  }
  template <class T>
  void operator()(const std::vector<T>& values) {
    (*this)(static_cast<uint64_t>(values.size()));
    if constexpr (Plain<T>) {
      out_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    } else {
      for (const T& value : values) (*this)(value);
    }
  }
  template <class M>
  requires std::is_class_v<M>
  void operator()(const M& part) { fields(*this, part); }
  void packed(Numbers encoding, std::span<const float> values) {
    (*this)(static_cast<uint64_t>(values.size()));
    size_t at = out_.size();
    out_.resize(at + bytes_of(encoding, values.size()));
    pack_numbers(encoding, values, out_.data() + at);
  }
  // So many numbers, which pack_numbers() has packed before.
  void packed_already(uint64_t count, std::string_view bytes) {
    (*this)(count);
    out_.append(bytes);
  }

 private:
  std::string& out_;
};

// After the first thing that does not fit every read gives zeros, and ok() is false. No count makes it
// allocate more than a small multiple of the bytes that are there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <Plain T>
  void operator()(T& value) {
    value = T{};
    if (rest_.size() < sizeof value) return fail();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  void operator()(bool& value) { value = limited(1) == 1; }
  void operator()(Role& role) { role = static_cast<Role>(limited(static_cast<uint8_t>(Role::Worker))); }
  void operator()(Numbers& encoding) {
    encoding = static_cast<Numbers>(limited(static_cast<uint8_t>(Numbers::Int8)));
  }
  void operator()(Norms& norms) { norms = static_cast<Norms>(limited(static_cast<uint8_t>(Norms::OfRound))); }
  void operator()(Replica& replica) {
    replica = static_cast<Replica>(limited(static_cast<uint8_t>(Replica::Lost)));
  }
  void operator()(AverageConfig::Kind& kind) {
    kind = static_cast<AverageConfig::Kind>(limited(static_cast<uint8_t>(AverageConfig::Kind::Mean)));
  }
  void operator()(std::string& text) {
    uint32_t size;
    (*this)(size);
    text = take(size, 1);
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    uint64_t count;
    (*this)(count);
    if constexpr (Plain<T>) {
      std::string_view bytes = take(count, sizeof(T));
      values.resize(bytes.size() / sizeof(T));
      if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    } else {
      static_assert(kLeastBytes<T> > 0);
      if (count > rest_.size() / kLeastBytes<T>) fail();
      values.resize(ok_ ? count : 0);
      for (T& value : values) (*this)(value);
    }
  }
  template <class M>
  requires std::is_class_v<M>
  void operator()(M& part) { fields(*this, part); }
  std::string_view packed(Numbers encoding) {
    uint64_t count;
    (*this)(count);
    if (count > rest_.size()) fail();  // each takes a byte at least
    return take(ok_ ? bytes_of(encoding, count) : 0, 1);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  uint8_t limited(uint8_t most) {
    uint8_t value;
    (*this)(value);
    if (value > most) fail();
    return value > most ? 0 : value;
  }
  std::string_view take(uint64_t count, size_t size) {
    if (!ok_ || count > rest_.size() / size) {
      fail();
      return {};
    }
    std::string_view out = rest_.substr(0, count * size);
    rest_.remove_prefix(count * size);
    return out;
  }
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace radl::engine::cluster
