// Encodes the few protobuf messages that the exporters write (protobuf.dev/programming-guides/encoding).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace radl::engine::exporter {

class Message {
 public:
  Message& integer(int field, int64_t value) {
    key(field, 0);
    varint(uint64_t(value));
    return *this;
  }
  Message& real(int field, double value) {
    key(field, 1);
    fixed(std::bit_cast<uint64_t>(value), 8);
    return *this;
  }
  Message& real32(int field, float value) {
    key(field, 5);
    fixed(std::bit_cast<uint32_t>(value), 4);
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    out_.append(value);
    return *this;
  }
  Message& message(int field, const Message& inner) { return bytes(field, inner.out_); }
  Message& packed(int field, std::span<const double> values) {
    return bytes(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  Message& packed(int field, std::span<const int64_t> values) {
    Message inner;
    for (int64_t v : values) inner.varint(uint64_t(v));
    return bytes(field, inner.out_);
  }
  const std::string& str() const { return out_; }

 private:
  void key(int field, int wire) { varint(uint64_t(field) << 3 | uint64_t(wire)); }
  void varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) out_.push_back(char(v | 0x80));
    out_.push_back(char(v));
  }
  void fixed(uint64_t v, int n) {
    for (int i = 0; i < n; ++i) out_.push_back(char(v >> (8 * i)));
  }
  std::string out_;
};

static_assert(std::endian::native == std::endian::little, "packed fields are copied as they lie in memory");

}  // namespace radl::engine::exporter
