#include "engine/export/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/new_file.h"
#include "engine/export/half.h"
#include "engine/export/safetensors_header.h"
#include "engine/tensor/buffer.h"

namespace radl::engine::exporter {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kLargestHeader = 100'000'000;  // the reference implementation's limit
constexpr size_t kLargestFile = size_t{1} << 36;

template <class T>
T load(const char* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

template <class T, class Convert>
void convert_as(const char* bytes, std::vector<float>& out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = convert(load<T>(bytes + sizeof(T) * i));
}
template <class T>
void convert_number(const char* bytes, std::vector<float>& out) {
  convert_as<T>(bytes, out, [](T v) { return float(v); });
}

struct Type {
  const char* name;
  size_t bytes;
  void (*convert)(const char* bytes, std::vector<float>& out);
};

constexpr Type kTypes[] = {
    {"F32", 4, convert_number<float>},
    {"F64", 8, convert_number<double>},
    {"F16", 2, [](const char* b, std::vector<float>& out) { convert_as<uint16_t>(b, out, half_to_float); }},
    {"BF16", 2,
     [](const char* b, std::vector<float>& out) {
       convert_as<uint16_t>(b, out, [](uint16_t v) { return std::bit_cast<float>(uint32_t(v) << 16); });
     }},
    {"I64", 8, convert_number<int64_t>},
    {"I32", 4, convert_number<int32_t>},
    {"I16", 2, convert_number<int16_t>},
    {"I8", 1, convert_number<int8_t>},
    {"U64", 8, convert_number<uint64_t>},
    {"U32", 4, convert_number<uint32_t>},
    {"U16", 2, convert_number<uint16_t>},
    {"U8", 1, convert_number<uint8_t>},
    {"BOOL", 1, convert_number<uint8_t>},
};

const Type* find_type(const std::string& name) {
  for (const Type& t : kTypes) {
    if (name == t.name) return &t;
  }
  return nullptr;
}

// The entry's type; Corrupt when its bytes are not where and what they must be.
Result<const Type*> check_entry(const SafetensorsEntry& e, uint64_t available) {
  auto bad = [&](const std::string& what) {
    return Status(Code::Corrupt, "tensor \"" + e.name + "\": " + what);
  };
  const Type* type = find_type(e.type);
  if (!type) return bad("type " + e.type + " cannot be read; F32, F64, F16, BF16 and integers can");
  if (e.begin > e.end || e.end > available) {
    return bad("offsets " + std::to_string(e.begin) + ".." + std::to_string(e.end) + " are not within the " +
               std::to_string(available) + " bytes of data");
  }
  if (e.end - e.begin != e.count * type->bytes) {
    return bad("has " + std::to_string(e.end - e.begin) + " bytes, its shape and type need " +
               std::to_string(e.count * type->bytes));
  }
  return type;
}

}  // namespace

Result<std::string> encode_safetensors(std::span<const TensorView> tensors,
                                       const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& t : tensors) {
    uint64_t count = 1;
    for (int64_t d : t.shape) count *= uint64_t(d);
    if (count != t.values.size())
      return invalid("tensor \"" + t.name + "\": its shape does not fit its values");
    if (t.name == "__metadata__" || header.contains(t.name))
      return invalid("tensor name \"" + t.name + "\" is taken");
    header[t.name] = {{"dtype", "F32"}, {"shape", t.shape}, {"data_offsets", {offset, offset + 4 * count}}};
    offset += 4 * count;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  while ((8 + text.size()) % 8 != 0) text.push_back(' ');
  std::string out;
  out.reserve(8 + text.size() + offset);
  for (int i = 0; i < 8; ++i) out.push_back(char(uint64_t(text.size()) >> (8 * i)));
  out += text;
  for (const auto& t : tensors)
    out.append(reinterpret_cast<const char*>(t.values.data()), t.values.size_bytes());
  return out;
}

Status write_safetensors(const std::string& path, std::span<const TensorView> tensors,
                         const std::map<std::string, std::string>& metadata) {
  auto bytes = encode_safetensors(tensors, metadata);
  return bytes.ok() ? write_user_file(path, *bytes) : bytes.status();
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  auto it = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

Result<SafetensorsFile> parse_safetensors(std::string_view bytes, const std::string& name) {
  auto bad = [&](const std::string& what) { return Status(Code::Corrupt, name + ": " + what); };
  if (bytes.size() < 8) return bad("is shorter than a safetensors header");
  const uint64_t length = load<uint64_t>(bytes.data());
  if (length > kLargestHeader || length > bytes.size() - 8)
    return bad("its header claims " + std::to_string(length) + " bytes");
  auto header = read_safetensors_header(bytes.substr(8, length));
  if (!header.ok()) return Status(header.status()).at(name);
  const std::string_view data = bytes.substr(8 + length);
  SafetensorsFile file;
  file.metadata = std::move(header->metadata);
  auto& entries = header->entries;
  std::ranges::stable_sort(entries, {}, [](const SafetensorsEntry& e) { return std::pair(e.begin, e.end); });
  file.tensors.reserve(entries.size());
  uint64_t expected = 0;
  for (SafetensorsEntry& e : entries) {
    auto type = check_entry(e, data.size());
    if (!type.ok()) return Status(type.status()).at(name);
    if (e.begin != expected) return bad("tensor \"" + e.name + "\" overlaps another one or leaves a hole");
    expected = e.end;
    StoredTensor t{std::move(e.name), std::move(e.shape), {}};
    t.values.resize(e.count);
    (*type)->convert(data.data() + e.begin, t.values);
    file.tensors.push_back(std::move(t));
  }
  if (expected != data.size())
    return bad(std::to_string(data.size() - expected) + " bytes at the end belong to no tensor");
  return file;
}

Result<SafetensorsFile> read_safetensors(const std::string& path) {
  // The bytes and the numbers made of them lie in memory together.
  auto bytes = read_file(path, std::min(kLargestFile, available_memory() / 2));
  if (!bytes.ok()) return bytes.status();
  return parse_safetensors(*bytes, path);
}

}  // namespace radl::engine::exporter
