// prevent_destroy: protected resources are neither removed nor replaced. This includes systems no longer in
// the file, because the state remembers them.
#include "runtime/plan/protect.h"

#include <algorithm>

#include "runtime/plan/build.h"

namespace radl {

namespace {

bool says_yes(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_string()) return false;
  std::string text = value.get<std::string>();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text == "yes" || text == "true";
}

// A node of the system that the record is of: also of one that is deployed fewer times now.
const ir::Node* node_of_system(const ir::Program& program, const std::string& system) {
  auto found = std::find_if(program.nodes.begin(), program.nodes.end(),
                            [&](const ir::Node& node) { return node.system == system; });
  return found == program.nodes.end() ? nullptr : &*found;
}

// Why it must stay; empty: it need not.
std::string reason_to_stay(const Draft& draft, const ResourceRecord& record) {
  if (const ir::Node* node = node_of_system(draft.input.program, record.system)) {
    const std::string by = protection_of(*node);
    return by.empty() ? "" : "system '" + node->system + "' has prevent_destroy (" + by + ")";
  }
  if (record.protected_by.empty()) return "";
  return "it was applied with prevent_destroy (" + record.protected_by + "), and the file has no system '" +
         record.system + "' with nodes any more";
}

constexpr const char* kHowToGoOn =
    "to let it happen, apply the system once with prevent_destroy = 'no'; to leave these nodes out, use "
    "--target; what has another name now is kept by `moved ('old', 'new')`; `radlc state rm ADDRESS` forgets "
    "a "
    "node and leaves it running";

}  // namespace

std::string protection_of(const ir::Node& node) {
  auto wanted = node.requirements.find("prevent_destroy");
  const bool is =
      wanted != node.requirements.end() && wanted->second.equals && says_yes(*wanted->second.equals);
  return is ? node.origin.path + ":" + std::to_string(node.origin.line) : "";
}

Status check_protected(const Draft& draft) {
  std::string refused;
  for (const Action& action : draft.plan.actions) {
    if (action.is_step || (action.verb != Verb::Delete && action.verb != Verb::Replace)) continue;
    auto record = draft.input.snapshot.resources.find(action.id);
    if (record == draft.input.snapshot.resources.end() || !record->second.is_node()) continue;
    const std::string reason = reason_to_stay(draft, record->second);
    if (reason.empty()) continue;
    refused += (refused.empty() ? "" : "\n") + action.id + " would be " +
               (action.verb == Verb::Delete ? "removed" : "replaced") + " (" + action.why + "): " + reason;
  }
  return refused.empty() ? Status() : Status(Code::Invalid, refused).with_hint(kHowToGoOn);
}

void plan_protections(Draft& draft) {
  for (const ir::Node& node : draft.input.program.nodes) {
    auto record = draft.input.snapshot.resources.find(node.address);
    if (record == draft.input.snapshot.resources.end() || draft.is_made_anew(node.address)) continue;
    const std::string by = protection_of(node);
    if (by.empty() != record->second.protected_by.empty()) draft.plan.protections[node.address] = by;
  }
}

}  // namespace radl
