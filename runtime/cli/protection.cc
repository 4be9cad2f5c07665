#include "runtime/cli/protection.h"

#include <map>

#include "compiler/syntax/parser.h"

namespace radl::cli {
namespace {

// Only what is certainly 'no' is taken for it: an expression is not computed here.
bool may_be_yes(const ast::Expr* value) {
  if (const auto* flag = ast::as<ast::Boolean>(value)) return flag->value;
  const auto* text = ast::as<ast::String>(value);
  return !text || !text->parts.empty() || (text->text != "no" && text->text != "false");
}

// System -> "demo.radl:4".
void add_protected(const std::string& file, std::map<std::string, std::string>& systems) {
  SourceMap sources;
  Diagnostics ignored;  // the commands that compile report them
  auto source = sources.load(file);
  if (!source.ok()) return;
  auto tree = parse(**source, ignored);
  for (const ast::Block* block : tree->blocks) {
    const auto* system = ast::as<ast::FeatureBlock>(block);
    if (!system || system->kind != ast::Kind::System) continue;
    for (const ast::Feature* feature : system->body.items) {
      if (feature->form != ast::FeatureKind::Simple || feature->name.text != "prevent_destroy") continue;
      if (!feature->value || !may_be_yes(feature->value)) continue;
      const int line = (*source)->line_of(feature->name.span.begin);
      systems[std::string(system->name.text)] = file + ":" + std::to_string(line);
    }
  }
}

}  // namespace

Status check_files_allow(const Plan& plan, const Snapshot& snapshot, const std::vector<std::string>& files) {
  std::map<std::string, std::string> systems;
  for (const std::string& file : files) add_protected(file, systems);
  std::string refused;
  for (const Action& action : plan.actions) {
    auto record = snapshot.resources.find(action.id);
    if (action.is_step || action.verb != Verb::Delete || record == snapshot.resources.end()) continue;
    // In a module a system bears its prefix: "cluster.worker".
    const std::string& system = record->second.system;
    auto kept = systems.find(system.substr(system.rfind('.') + 1));
    if (system.empty() || kept == systems.end()) continue;
    refused += (refused.empty() ? "" : "\n") + action.id + " would be removed: system '" + system +
               "' has prevent_destroy (" + kept->second + ")";
  }
  if (refused.empty()) return {};
  return Status(Code::Invalid, refused).with_hint("to destroy it, write prevent_destroy = 'no' there");
}

}  // namespace radl::cli
