// Masking is a plain search for each pattern: a run has few secrets.
#include "runtime/base/redact.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/digest.h"

namespace radl {

namespace {

constexpr size_t kShortest = 3;      // shorter ones would mask innocent text
constexpr size_t kShortestLine = 8;  // of a line or an encoded form
using Json = nlohmann::json;

std::string percent_encoded(std::string_view text) {
  static const char* digits = "0123456789ABCDEF";
  std::string out;
  for (unsigned char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                 c == '_' || c == '.' || c == '~';
    if (plain) {
      out += static_cast<char>(c);
    } else {
      out += {'%', digits[c >> 4], digits[c & 15]};
    }
  }
  return out;
}

}  // namespace

Redactor::Redactor(const std::map<std::string, std::string>& secrets) {
  for (const auto& [name, value] : secrets) add(value);
}

void Redactor::add_pattern(std::string text) {
  if (std::find(patterns_.begin(), patterns_.end(), text) != patterns_.end()) return;
  auto longer = [](const std::string& a, const std::string& b) { return a.size() > b.size(); };
  auto place = std::upper_bound(patterns_.begin(), patterns_.end(), text, longer);
  patterns_.insert(place, std::move(text));
}

void Redactor::add(std::string_view secret) {
  if (secret.empty()) return;
  if (secret.size() < kShortest) {
    short_.emplace_back(secret);
    return;
  }
  add_pattern(std::string(secret));
  std::string escaped = Json(secret).dump(-1, ' ', false, Json::error_handler_t::replace);
  add_pattern(escaped.substr(1, escaped.size() - 2));
  add_pattern(percent_encoded(secret));
  std::string encoded = base64_encode(secret);
  while (!encoded.empty() && encoded.back() == '=') encoded.pop_back();
  // The last sextet depends on what follows in the stream, so leave it out.
  if (encoded.size() > kShortestLine) add_pattern(encoded.substr(0, encoded.size() - 1));
  for (size_t begin = 0; begin < secret.size();) {
    size_t end = std::min(secret.find('\n', begin), secret.size());
    std::string_view line = secret.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() >= kShortestLine) add_pattern(std::string(line));
    begin = end + 1;
  }
}

std::string Redactor::mask(std::string_view text) const {
  if (std::find(short_.begin(), short_.end(), text) != short_.end()) return std::string(kMask);
  std::string out(text);
  for (const std::string& pattern : patterns_) {
    for (size_t at = out.find(pattern); at != std::string::npos; at = out.find(pattern, at + kMask.size())) {
      out.replace(at, pattern.size(), kMask);
    }
  }
  return out;
}

Json Redactor::mask_json(const Json& value) const {
  if (empty()) return value;
  if (value.is_string()) return mask(value.get_ref<const std::string&>());
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& inner : value) out.push_back(mask_json(inner));
    return out;
  }
  if (value.is_object()) {
    Json out = Json::object();
    for (const auto& [key, inner] : value.items()) out[mask(key)] = mask_json(inner);
    return out;
  }
  // A secret number would be seen as one.
  if (value.is_number()) {
    std::string text = value.dump();
    return mask(text) == text ? value : Json(std::string(kMask));
  }
  return value;
}

}  // namespace radl
