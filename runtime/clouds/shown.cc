#include "runtime/clouds/shown.h"

namespace radl {
namespace {

// Among the attributes, which no cloud keeps: some keep an order's spec. No attribute has such a name.
constexpr const char* kShown = "shown by the plan";

}  // namespace

void carry_shown(Order& order, Json fields) { order.attributes[kShown] = std::move(fields); }

std::optional<Json> shown_before(const Order& order, const std::string& field) {
  const auto shown = order.attributes.find(kShown);
  if (shown == order.attributes.end()) return std::nullopt;
  return shown->value(field, Json());
}

}  // namespace radl
