#include "runtime/steps/program/metrics.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "common/crc32c.h"
#include "common/files.h"

namespace radl::program {
namespace {

constexpr size_t kLargest = size_t{256} << 20;  // of a file that is read

// ---- protocol buffers, as far as events need them

struct Field {
  unsigned number = 0, wire = 0;
  uint64_t value = 0;      // wire types 0, 1 and 5
  std::string_view bytes;  // wire type 2
};

class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}
  // nullopt: at its end, or what follows is no message.
  std::optional<Field> next() {
    auto key = varint();
    if (!key) return std::nullopt;
    Field field{static_cast<unsigned>(*key >> 3), static_cast<unsigned>(*key & 7), 0, {}};
    std::optional<uint64_t> value;
    if (field.wire == 0) value = varint();
    if (field.wire == 1) value = fixed(8);
    if (field.wire == 5) value = fixed(4);
    if (field.wire == 2) {
      auto length = varint();
      if (!length || *length > rest_.size()) return std::nullopt;
      field.bytes = rest_.substr(0, *length);
      rest_.remove_prefix(*length);
      return field;
    }
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  std::optional<uint64_t> fixed(size_t size) {
    if (rest_.size() < size) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(size);
    return value;
  }
  std::string_view rest_;
};

double float_of(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

double of_bytes(std::string_view bytes, bool is_double) {
  uint64_t bits = 0;
  for (size_t i = is_double ? 8 : 4; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return is_double ? std::bit_cast<double>(bits) : float_of(bits);
}

// A TensorProto with one number: dtype 1, tensor_content 4, float_val 5, double_val 6.
std::optional<double> number_of_tensor(std::string_view bytes) {
  Message message(bytes);
  uint64_t type = 0;
  std::string_view content, floats, doubles;
  std::optional<double> single;
  while (auto field = message.next()) {
    if (field->number == 1) type = field->value;
    if (field->number == 4) content = field->bytes;
    if (field->number == 5 && field->wire == 5) single = float_of(field->value);
    if (field->number == 5 && field->wire == 2) floats = field->bytes;
    if (field->number == 6 && field->wire == 1) single = std::bit_cast<double>(field->value);
    if (field->number == 6 && field->wire == 2) doubles = field->bytes;
  }
  if (single) return single;
  if (floats.size() == 4) return of_bytes(floats, false);
  if (doubles.size() == 8) return of_bytes(doubles, true);
  constexpr uint64_t kFloat = 1, kDouble = 2;
  if (type == kFloat && content.size() == 4) return of_bytes(content, false);
  if (type == kDouble && content.size() == 8) return of_bytes(content, true);
  return std::nullopt;
}

// Event.summary is 5, Summary.value 1; of a value: tag 1, simple_value 2, tensor 8.
void take_event(std::string_view bytes, const TakeScalar& take) {
  Message event(bytes);
  while (auto field = event.next()) {
    if (field->number != 5 || field->wire != 2) continue;
    Message summary(field->bytes);
    while (auto value = summary.next()) {
      if (value->number != 1 || value->wire != 2) continue;
      Message parts(value->bytes);
      std::string tag;
      std::optional<double> number;
      while (auto part = parts.next()) {
        if (part->number == 1 && part->wire == 2) tag = part->bytes;
        if (part->number == 2 && part->wire == 5) number = float_of(part->value);
        if (part->number == 8 && part->wire == 2) number = number_of_tensor(part->bytes);
      }
      if (number && !tag.empty()) take(tag, *number);
    }
  }
}

// CRC-32C, masked as TFRecord does.
uint32_t masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

Result<size_t> take_events(std::string_view bytes, const TakeScalar& take) {
  constexpr size_t kHead = 12, kTail = 4;  // length, its checksum; the data's checksum
  const Status damaged(Code::Corrupt, "is not a file of TensorBoard events, or is damaged");
  size_t taken = 0;
  while (bytes.size() - taken >= kHead) {
    const std::string_view rest = bytes.substr(taken);
    if (little_endian(rest.substr(8, 4)) != masked_crc(rest.substr(0, 8))) return damaged;
    const uint64_t length = little_endian(rest.substr(0, 8));
    if (length > rest.size() - kHead || rest.size() - kHead - length < kTail) break;
    const std::string_view data = rest.substr(kHead, length);
    if (little_endian(rest.substr(kHead + length, kTail)) != masked_crc(data)) return damaged;
    take_event(data, take);
    taken += kHead + length + kTail;
  }
  return taken;
}

Status take_event_file(std::string_view bytes, Metrics& into) {
  return take_events(bytes, [&](const std::string& tag, double value) { take_number(tag, value, into); })
      .status();
}

void take_files(const std::string& folder, std::vector<std::string> names, Metrics& into) {
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    const bool events = path.substr(path.rfind('/') + 1).find("tfevents") != std::string::npos;
    if (!events && !path.ends_with(".jsonl")) continue;
    auto bytes = read_file(path, kLargest);
    if (!bytes) continue;
    if (events) {
      (void)take_event_file(*bytes, into);
      continue;
    }
    for (std::string_view rest = *bytes; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      take_line(rest.substr(0, end), into);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

}  // namespace radl::program
