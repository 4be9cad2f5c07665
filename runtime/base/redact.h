// Masks secret values in whatever is about to be shown, logged or stored.
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
  // Also masks the forms that a secret takes on its way: each long line of it, JSON-escaped, base64,
  // percent-encoded. A secret of fewer than three bytes is masked only where it is the whole text.
  void add(std::string_view secret);

  std::string mask(std::string_view text) const;
  nlohmann::json mask_json(const nlohmann::json& value) const;  // every text in it, keys included
  bool empty() const { return patterns_.empty() && short_.empty(); }

 private:
  void add_pattern(std::string text);
  std::vector<std::string> patterns_;  // longest first
  std::vector<std::string> short_;
};

}  // namespace radl
