#include "runtime/clouds/cloud.h"

namespace radl {

std::string CloudId::text() const {
  if (account.empty() && region.empty()) return type;
  return type + ":" + account + (region.empty() ? "" : "/" + region);
}

Result<CloudId> CloudId::parse(const std::string& text) {
  CloudId id;
  size_t colon = text.find(':');
  id.type = text.substr(0, colon);
  if (id.type.empty()) return Status(Code::Invalid, "'" + text + "' names no cloud");
  if (colon == text.npos) return id;
  std::string rest = text.substr(colon + 1);
  size_t slash = rest.find('/');
  id.account = rest.substr(0, slash);
  if (slash != rest.npos) id.region = rest.substr(slash + 1);
  if (id.text() != text) return Status(Code::Invalid, "'" + text + "' names no cloud");
  return id;
}

Json laid_over(const Json& spec, const Json& over) {
  Json result = spec.is_object() ? spec : Json::object();
  if (!over.is_object()) return result;
  for (const auto& [field, value] : over.items()) {
    if (value.is_null()) {
      result.erase(field);
    } else {
      result[field] = value;
    }
  }
  return result;
}

Json offered_spec(const Json& spec, const Offer& offer) { return laid_over(spec, offer.spec); }

std::optional<Impact> Cloud::impact_of_lost(const std::string&, const std::string& needed) const {
  if (needed == "key_pair" || needed == "key") return std::nullopt;
  return Impact{Impact::Kind::Replace, ""};
}

Asked Cloud::ask_power(const Context&, const Order& order, Power) {
  return Asked::refused(
      Status(Code::Unsupported, order.address + ": " + id().text() + " does not stop or reboot machines"));
}

Asked Cloud::ask_image(const Context&, const Order& order, const std::string&) {
  return Asked::refused(Status(
      Code::Unsupported, order.address + ": radlc does not create images of machines of " + id().text()));
}

std::string_view phase_name(ResourcePhase phase) {
  switch (phase) {
    case ResourcePhase::Pending:
      return "pending";
    case ResourcePhase::Ready:
      return "ready";
    case ResourcePhase::Stopped:
      return "stopped";
    case ResourcePhase::Broken:
      return "broken";
    case ResourcePhase::Leaving:
      return "leaving";
  }
  return "unknown";
}

}  // namespace radl
