#include "runtime/clouds/gce/marks.h"

#include <algorithm>
#include <cctype>

#include "common/digest.h"
#include "common/text.h"

namespace radl::gce {
namespace {

constexpr std::string_view kWord = "radlc ", kPrefix = "radlc-";
constexpr size_t kHash = 10, kTokenHash = 16, kShown = 24, kLabel = 63, kTag = 63;

// For people to read: "worker-0" of "worker[0]".
std::string readable(const std::string& text, size_t most) {
  std::string shown;
  for (unsigned char c : to_lower(text)) {
    if (std::isalnum(c))
      shown += static_cast<char>(c);
    else if (!shown.empty() && !shown.ends_with('-'))
      shown += '-';
    if (shown.size() == most) break;
  }
  while (shown.ends_with('-')) shown.pop_back();
  return shown.empty() ? "x" : shown;
}

std::string label_value(const std::string& text) {
  std::string value = to_lower(text).substr(0, kLabel);
  for (char& c : value)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '-';
  return value;
}

}  // namespace

std::string name_prefix(const Context& context, const CloudId& cloud) {
  return std::string(kPrefix) + sha256_hex(context.infrastructure + "\n" + cloud.region).substr(0, kHash) +
         "-";
}

std::string name_for(const Context& context, const CloudId& cloud, const Order& order) {
  return name_prefix(context, cloud) + readable(order.address, kShown) + "-" +
         sha256_hex(order.token).substr(0, kTokenHash);
}

std::string tag_of(const Context& context, const CloudId& cloud, const std::string& group) {
  const std::string tag =
      name_prefix(context, cloud) + readable(group, kShown) + "-" + sha256_hex(group).substr(0, kHash);
  return tag.substr(0, kTag);
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

Json labels_for(const Context& context, const Order& order) {
  return {{"radlc-infrastructure", label_value(context.infrastructure)},
          {"radlc-address", label_value(order.address)}};
}

Json own_labels(const Json& labels) {
  Json own = Json::object();
  if (!labels.is_object()) return own;
  for (const auto& [name, value] : labels.items())
    if (!name.starts_with("radlc-") && !name.starts_with("goog-") && value.is_string()) own[name] = value;
  return own;
}

bool is_label(const std::string& text, bool key) {
  if (text.size() > kLabel || (key && (text.empty() || !std::islower(static_cast<unsigned char>(text[0])))))
    return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-' || c == '_' || c >= 0x80;
  });
}

void take_mark(const Context& context, const Mark& mark, Seen& seen) {
  if (!mark.ours(context)) return;
  seen.address = mark.address;
  seen.token = mark.token;
}

}  // namespace radl::gce
