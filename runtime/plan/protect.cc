// prevent_destroy: what the file says must stay is neither removed nor replaced.
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

bool is_protected(const ir::Node& node) {
  auto wanted = node.requirements.find("prevent_destroy");
  return wanted != node.requirements.end() && wanted->second.equals && says_yes(*wanted->second.equals);
}

// A node of the system that the record is of: also of one that is deployed fewer times now.
const ir::Node* node_of_system(const ir::Program& program, const std::string& system) {
  auto found = std::find_if(program.nodes.begin(), program.nodes.end(),
                            [&](const ir::Node& node) { return node.system == system; });
  return found == program.nodes.end() ? nullptr : &*found;
}

}  // namespace

Status check_protected(const Draft& draft) {
  std::string refused;
  for (const Action& action : draft.plan.actions) {
    if (action.is_step || (action.verb != Verb::Delete && action.verb != Verb::Replace)) continue;
    auto record = draft.input.snapshot.resources.find(action.id);
    if (record == draft.input.snapshot.resources.end() || !record->second.is_node()) continue;
    const ir::Node* node = node_of_system(draft.input.program, record->second.system);
    if (!node || !is_protected(*node)) continue;
    refused += (refused.empty() ? "" : "\n") + action.id + " would be " +
               (action.verb == Verb::Delete ? "removed" : "replaced") + " (" + action.why + "): system '" +
               node->system + "' has prevent_destroy (" + node->origin.path + ":" +
               std::to_string(node->origin.line) + ")";
  }
  if (refused.empty()) return {};
  return Status(Code::Invalid, refused)
      .with_hint(
          "to let it happen, write prevent_destroy = 'no' there; to leave these nodes out, use --target");
}

}  // namespace radl
