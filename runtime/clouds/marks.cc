#include "runtime/clouds/marks.h"

#include <cctype>

#include "common/digest.h"
#include "common/text.h"

namespace radl {
namespace {

constexpr size_t kGroupHash = 10, kTokenHash = 16, kReadable = 24, kMostLetters = 63;

// For people to read: "worker-0" of "worker[0]".
std::string readable(const std::string& text) {
  std::string shown;
  for (unsigned char c : to_lower(text)) {
    if (std::isalnum(c))
      shown += static_cast<char>(c);
    else if (!shown.empty() && !shown.ends_with('-'))
      shown += '-';
    if (shown.size() == kReadable) break;
  }
  while (shown.ends_with('-')) shown.pop_back();
  return shown.empty() ? "x" : shown;
}

}  // namespace

void take_mark(const Context& context, const Mark& mark, Seen& seen) {
  if (!mark.ours(context)) return;
  seen.address = mark.address;
  seen.token = mark.token;
}

std::string name_prefix(const Context& context, const CloudId& cloud) {
  return "radlc-" + sha256_hex(context.infrastructure + "\n" + cloud.region).substr(0, kGroupHash) + "-";
}

std::string name_for(const Context& context, const CloudId& cloud, const Order& order) {
  return name_prefix(context, cloud) + readable(order.address) + "-" +
         sha256_hex(order.token).substr(0, kTokenHash);
}

std::string group_name(const Context& context, const CloudId& cloud, const std::string& group) {
  const std::string name =
      name_prefix(context, cloud) + readable(group) + "-" + sha256_hex(group).substr(0, kGroupHash);
  return name.substr(0, kMostLetters);
}

}  // namespace radl
