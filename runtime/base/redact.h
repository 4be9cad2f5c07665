// Masks secret values in text to be shown, logged or stored.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace radl {

class Redactor {
 public:
  static constexpr std::string_view kMask = "(sensitive)";

  Redactor() = default;
  explicit Redactor(const std::map<std::string, std::string>& secrets);
  // Also masks derived forms of a secret: each of its long lines, JSON-escaped, base64, percent-encoded. A
  // secret shorter than three bytes is masked only if it is the whole text.
  void add(std::string_view secret);

  std::string mask(std::string_view text) const;
  nlohmann::json mask_json(const nlohmann::json& value) const;  // every text in it, including keys
  bool empty() const { return patterns_.empty() && short_.empty(); }

 private:
  void add_pattern(std::string text);
  std::vector<std::string> patterns_;  // longest first
  std::vector<std::string> short_;
};

}  // namespace radl
