#include "runtime/clouds/gce/marks.h"

#include <algorithm>
#include <cctype>

#include "common/json_values.h"
#include "common/text.h"

namespace radl::gce {
namespace {

constexpr std::string_view kWord = "radlc ";
constexpr size_t kLabel = 63;

std::string label_value(const std::string& text) {
  std::string value = to_lower(text).substr(0, kLabel);
  for (char& c : value)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '-';
  return value;
}

}  // namespace

std::string tag_of(const Context& context, const CloudId& cloud, const std::string& group) {
  return group_name(context, cloud, group);
}

std::string to_line(const Context& context, const Order& order) {
  return std::string(kWord) + order.token + " " + context.infrastructure + " " + order.address;
}

Mark from_line(const std::string& line) {
  if (!line.starts_with(kWord)) return {};
  const auto words = split(std::string_view(line).substr(kWord.size()), ' ');
  if (words.size() != 3) return {};
  return {std::string(words[1]), std::string(words[2]), std::string(words[0])};
}

Mark mark_in(const Json& item) {
  if (json::member(item, "labels").contains(kReleasedLabel)) return {};
  return from_line(json::text_of(item, "description"));
}

Json labels_for(const Context& context, const Order& order) {
  return {{kInfrastructureLabel, label_value(context.infrastructure)},
          {kAddressLabel, label_value(order.address)}};
}

Json own_labels(const Json& labels) {
  Json own = Json::object();
  if (!labels.is_object()) return own;
  for (const auto& [name, value] : labels.items())
    if (!name.starts_with("radlc-") && !name.starts_with("goog-") && value.is_string()) own[name] = value;
  return own;
}

bool is_label(std::string_view text, bool key) {
  if (text.size() > kLabel || (key && (text.empty() || !std::islower(static_cast<unsigned char>(text[0])))))
    return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-' || c == '_' || c >= 0x80;
  });
}

}  // namespace radl::gce
