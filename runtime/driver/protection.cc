#include "runtime/driver/protection.h"

#include <map>

#include "common/text.h"
#include "compiler/syntax/parser.h"

namespace radl::driver {
namespace {

// Only what is certainly 'no' is taken for it: an expression is not computed here.
bool may_be_yes(const ast::Expr* value) {
  if (const auto* flag = ast::as<ast::Boolean>(value)) return flag->value;
  const auto* text = ast::as<ast::String>(value);
  return !text || !text->parts.empty() || !equal_ignoring_case(text->text, "no");
}

// What a system says of prevent_destroy, and where: "demo.radl:4". A system without a word may go.
struct Protection {
  bool stays = false;
  std::string place;
};

void read_systems(const std::string& file, std::map<std::string, Protection>& systems) {
  SourceMap sources;
  Diagnostics ignored;  // the commands that compile report them
  auto source = sources.load(file);
  if (!source.ok()) return;
  auto tree = parse(**source, ignored);
  for (const ast::Block* block : tree->blocks) {
    const auto* system = ast::as<ast::FeatureBlock>(block);
    if (!system || system->kind != ast::Kind::System || !system->body.present) continue;
    Protection& said = systems[std::string(system->name.text)];
    for (const ast::Feature* feature : system->body.items) {
      if (feature->form != ast::FeatureKind::Simple || feature->name.text != "prevent_destroy") continue;
      if (!feature->value || !may_be_yes(feature->value)) continue;
      said = {true, file + ":" + std::to_string((*source)->line_of(feature->name.span.begin))};
    }
  }
}

// Why the node must stay; empty: it need not. The file speaks for its systems, the state for what is no
// longer in it.
std::string reason_to_stay(const ResourceRecord& record, const std::map<std::string, Protection>& systems) {
  // In a module a system bears its prefix: "cluster.worker".
  auto said = systems.find(record.system.substr(record.system.rfind('.') + 1));
  if (said != systems.end())
    return said->second.stays
               ? "system '" + record.system + "' has prevent_destroy (" + said->second.place + ")"
               : "";
  return record.protected_by.empty() ? ""
                                     : "it was applied with prevent_destroy (" + record.protected_by + ")";
}

}  // namespace

Status check_files_allow(const Plan& plan, const Snapshot& snapshot, const std::vector<std::string>& files) {
  std::map<std::string, Protection> systems;
  for (const std::string& file : files) read_systems(file, systems);
  std::string refused;
  for (const Action& action : plan.actions) {
    auto record = snapshot.resources.find(action.id);
    if (action.is_step || action.verb != Verb::Delete || record == snapshot.resources.end()) continue;
    if (!record->second.is_node()) continue;
    const std::string reason = reason_to_stay(record->second, systems);
    if (reason.empty()) continue;
    refused += (refused.empty() ? "" : "\n") + action.id + " would be removed: " + reason;
  }
  if (refused.empty()) return {};
  return Status(Code::Invalid, refused)
      .with_hint(
          "to destroy it, set prevent_destroy = 'no'. If the system is no longer in a file, add it again "
          "with "
          "that setting and apply once, or release the node with `radlc state rm`, which leaves it running");
}

}  // namespace radl::driver
