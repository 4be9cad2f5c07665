#include "engine/export/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "common/files.h"

namespace radl::engine::exporter {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kLargestHeader = 100'000'000;  // the reference implementation's limit
constexpr size_t kLargestFile = size_t{1} << 36;

float half_to_float(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 1023;
  if (exponent == 0)
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::ldexp(float(mantissa), -24)));
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

template <class T>
T load(const char* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

size_t type_bytes(const std::string& type) {
  if (type == "F64") return 8;
  if (type == "F32") return 4;
  if (type == "F16" || type == "BF16") return 2;
  return 0;
}

void convert(const std::string& type, const char* bytes, std::vector<float>& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    if (type == "F64")
      out[i] = float(load<double>(bytes + 8 * i));
    else if (type == "F16")
      out[i] = half_to_float(load<uint16_t>(bytes + 2 * i));
    else
      out[i] = std::bit_cast<float>(uint32_t(load<uint16_t>(bytes + 2 * i)) << 16);
  }
}

struct Entry {
  std::string name, type;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

Result<Entry> parse_entry(const std::string& name, const Json& value, uint64_t available) {
  Entry e{name};
  auto bad = [&](const std::string& what) {
    return Status(Code::Corrupt, "tensor \"" + name + "\": " + what);
  };
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets") || !value["dtype"].is_string() || !value["shape"].is_array() ||
      !value["data_offsets"].is_array() || value["data_offsets"].size() != 2) {
    return bad("needs dtype, shape and two data_offsets");
  }
  e.type = value["dtype"].get<std::string>();
  const size_t item = type_bytes(e.type);
  if (item == 0) return bad("type " + e.type + " is not one of F32, F64, F16, BF16");
  uint64_t count = 1;
  for (const auto& d : value["shape"]) {
    if (!d.is_number_unsigned()) return bad("shape holds " + d.dump());
    const uint64_t n = d.get<uint64_t>();
    if (n > (uint64_t{1} << 40) || (n != 0 && count > (uint64_t{1} << 40) / n))
      return bad("shape is too large");
    count *= n;
    e.shape.push_back(int64_t(n));
  }
  for (const auto& o : value["data_offsets"]) {
    if (!o.is_number_unsigned()) return bad("offset is " + o.dump());
  }
  e.begin = value["data_offsets"][0].get<uint64_t>();
  e.end = value["data_offsets"][1].get<uint64_t>();
  if (e.begin > e.end || e.end > available) {
    return bad("offsets " + std::to_string(e.begin) + ".." + std::to_string(e.end) + " are not within the " +
               std::to_string(available) + " bytes of data");
  }
  if (e.end - e.begin != count * item) {
    return bad("has " + std::to_string(e.end - e.begin) + " bytes, its shape and type need " +
               std::to_string(count * item));
  }
  return e;
}

// nlohmann::json keeps the last of two equal keys: refuse them while parsing.
Result<Json> parse_header(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string twice;
  auto callback = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  Json header;
  try {
    header = Json::parse(text.begin(), text.end(), callback);
  } catch (const Json::exception& e) {
    return Status(Code::Corrupt, std::string("the header is not JSON: ") + e.what());
  }
  if (!twice.empty()) return Status(Code::Corrupt, "\"" + twice + "\" is there twice");
  if (!header.is_object()) return Status(Code::Corrupt, "the header is not an object");
  return header;
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
  std::string text = header.dump();
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
  return bytes.ok() ? write_file_atomic(path, *bytes) : bytes.status();
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
  auto header = parse_header(bytes.substr(8, length));
  if (!header.ok()) return Status(header.status()).at(name);
  const std::string_view data = bytes.substr(8 + length);
  SafetensorsFile file;
  std::vector<Entry> entries;
  for (const auto& [key, value] : header->items()) {
    if (key == "__metadata__") {
      if (!value.is_object()) return bad("__metadata__ is not an object");
      for (const auto& [k, v] : value.items()) {
        if (!v.is_string()) return bad("__metadata__ holds something that is no text");
        file.metadata[k] = v.get<std::string>();
      }
      continue;
    }
    auto entry = parse_entry(key, value, data.size());
    if (!entry.ok()) return Status(entry.status()).at(name);
    entries.push_back(std::move(*entry));
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t expected = 0;
  for (const Entry& e : entries) {
    if (e.begin != expected) return bad("tensor \"" + e.name + "\" overlaps another one or leaves a hole");
    expected = e.end;
    StoredTensor t{e.name, e.shape, {}};
    t.values.resize((e.end - e.begin) / type_bytes(e.type));
    if (e.type != "F32") {
      convert(e.type, data.data() + e.begin, t.values);
    } else if (e.end > e.begin) {  // an empty tensor has no memory to copy to
      std::memcpy(t.values.data(), data.data() + e.begin, e.end - e.begin);
    }
    file.tensors.push_back(std::move(t));
  }
  if (expected != data.size())
    return bad(std::to_string(data.size() - expected) + " bytes at the end belong to no tensor");
  return file;
}

Result<SafetensorsFile> read_safetensors(const std::string& path) {
  auto bytes = read_file(path, kLargestFile);
  if (!bytes.ok()) return bytes.status();
  return parse_safetensors(*bytes, path);
}

}  // namespace radl::engine::exporter
