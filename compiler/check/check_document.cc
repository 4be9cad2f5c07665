// The passes of the document check; systems are in check_systems.cc, networks in check_networks.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/text.h"
#include "compiler/check/check.h"
#include "compiler/compat/yaml/yaml_fault.h"

namespace radl::sema {
namespace {

template <class T>
void unknown(const Document::Named<T>& named, DiagCode code, std::string_view what, const ast::Name& name,
             Diagnostics& diagnostics) {
  // The name of a missing module.
  if (name.text.find('.') != name.text.npos && diagnostics.has(DiagCode::ModuleNotFound)) return;
  std::vector<std::string_view> names = named.names();
  Diagnostic& d = diagnostics.report(
      code, name.span, "there is no " + std::string(what) + " `" + std::string(name.text) + "`");
  if (auto near = nearest_name(name.text, names)) {
    d.labelled("did you mean `" + std::string(*near) + "`?");
    d.fix("write `" + std::string(*near) + "`", name.span, std::string(*near));
  } else {
    help_with_names(d, what, names);
  }
}

}  // namespace

bool is_checked(const FeatureSpec& spec, const CheckOptions& options) {
  const bool plain = spec.type == FeatureType::Choice || spec.type == FeatureType::Number ||
                     spec.type == FeatureType::Integer;
  return spec.checked || (options.for_run && plain);
}

void check_set(Scope scope, const FeatureSet& features, const Document& document, Diagnostics& diagnostics,
               const CheckOptions& options) {
  for (const Merged& item : features.items) {
    const FeatureSpec* spec = find_feature(scope, item.name());
    warn_feature(scope, spec, item, diagnostics, options);
    check_secrecy(scope, spec, item, diagnostics);
    if (spec && is_checked(*spec, options)) check_feature(*spec, item, document, diagnostics, options);
  }
}

void check_ansibles(const Document& document, Diagnostics& diagnostics) {
  for (const Definition& host : document.ansibles.list) {
    check_set(Scope::Ansible, host.features, document, diagnostics, {});
    if (!host.block->present) continue;  // the parser has said that they are missing
    auto need = [&](std::string_view name, std::string_view or_else) {
      if (host.features.find(name) || (!or_else.empty() && host.features.find(or_else))) return;
      std::string wanted = "`" + std::string(name) + "`";
      if (!or_else.empty()) wanted += " or `" + std::string(or_else) + "`";
      diagnostics.report(DiagCode::MissingFeature, host.block->name.span,
                         "ansible host `" + std::string(host.block->name.text) + "` needs " + wanted);
    };
    need("host", {});
    need("credentials.username", {});
    need("credentials.password", "credentials.private_key");
  }
}

namespace {

// `system NAME (` or `system (` in a string of which a part could not be read; `keyword` is system here.
bool defined_in(std::string_view text, std::string_view keyword, std::string_view name) {
  auto skip = [&](size_t at) { return std::min(text.find_first_not_of(" \t\n", at), text.size()); };
  for (size_t at = text.find(keyword); at != text.npos; at = text.find(keyword, at + 1)) {
    if (at > 0 && text[at - 1] != '\n' && text[at - 1] != ' ') continue;
    at = skip(at + keyword.size());
    if (at < text.size() && text[at] == '(') return true;
    if (text.compare(at, name.size(), name) != 0) continue;
    size_t behind = skip(at + name.size());
    if (behind < text.size() && (text[behind] == '(' || text[behind] == '{')) return true;
  }
  return false;
}

}  // namespace

void help_with_names(Diagnostic& diagnostic, std::string_view what, std::vector<std::string_view> names) {
  constexpr size_t kMostShown = 10;
  if (names.empty()) return;
  const std::string more =
      names.size() > kMostShown ? fmt::format(" and {} more", names.size() - kMostShown) : "";
  names.resize(std::min(names.size(), kMostShown));
  diagnostic.with_help(fmt::format("{}s: {}{}", what, fmt::join(names, ", "), more));
}

bool may_be_defined(const Document& document, std::string_view keyword, std::string_view name) {
  if (std::any_of(document.broken.begin(), document.broken.end(),
                  [&](const SourceFile* source) { return defined_in(source->text(), keyword, name); }))
    return true;
  if (document.dialect == ast::Dialect::Ec3) return document.partial;  // in another file of the cluster
  return std::any_of(document.generals.begin(), document.generals.end(),
                     [&](const hir::Block* general) { return general->name.text == name; });
}

void check_deploys(const Document& document, Diagnostics& diagnostics) {
  for (const hir::Deploy* deploy : document.deploys) {
    const ast::Name& name = deploy->system;
    if (!document.systems.find(name.text) && !may_be_defined(document, "system", name.text))
      unknown(document.systems, DiagCode::UnknownSystem, "system", name, diagnostics);
    if (auto* count = deploy->count.number(); count && count->is_float)
      diagnostics.report(DiagCode::FractionalCount, deploy->count.span(), "a number of nodes is an integer");
  }
}

// `@begin echo @end` on one line: the recipe goes on over what follows, and can be YAML all the same.
void warn_runs_on(const ast::Recipe& recipe, Diagnostics& diagnostics) {
  std::string_view text = recipe.text, first = text.substr(0, text.find('\n'));
  size_t begin = text.find("\n@begin"), end = first.find("@end");
  if (begin == text.npos && end == text.npos) return;
  size_t at = end != text.npos ? end : begin + 1;
  uint32_t place = recipe.span.begin + 6 + static_cast<uint32_t>(at);  // behind @begin
  diagnostics
      .report(DiagCode::RecipeRunsOn, {recipe.span.file, place, place + 4},
              end != text.npos ? "the recipe does not end here: `@end` begins a line of its own"
                               : "the recipe runs over another `@begin`: is its own `@end` missing?")
      .note({recipe.span.file, recipe.span.end - 4, recipe.span.end}, "it ends here");
}

void check_configures(const Document& document, Diagnostics& diagnostics) {
  for (const ConfigureDefinition& configure : document.configures.list) {
    const ast::Recipe* recipe = configure.written().recipe;
    if (!recipe) continue;
    const std::optional<YamlFault> fault = yaml_fault(recipe->text);
    if (!fault) {
      warn_runs_on(*recipe, diagnostics);
      continue;
    }
    uint32_t body = recipe->span.begin + 6;  // behind @begin
    uint32_t at = body + static_cast<uint32_t>(std::min(fault->offset, recipe->text.size()));
    if (at >= recipe->span.end) at = recipe->span.begin;
    const ast::Name& name = configure.block->name;
    Diagnostic& d =
        diagnostics.report(DiagCode::BadYaml, {recipe->span.file, at, at + 1},
                           "the recipe of `" + std::string(name.text) + "` is not YAML: " + fault->message);
    d.note(name.span, "the recipe of this");
    if (recipe->text.substr(0, recipe->text.find('\n')).find("@end") != recipe->text.npos)
      d.with_help("`@end` ends a recipe only where it begins a line");
    else if (recipe->text.find("\n@begin") != recipe->text.npos)
      d.with_help("it runs over another `@begin`: is its own `@end` missing?");
  }
}

void check_contextualize(const Document& document, Diagnostics& diagnostics) {
  if (document.max_time && document.max_time->is_float)
    diagnostics.report(DiagCode::WrongTime, document.max_time->span,
                       "the time limit is an integer number of seconds");
  for (const hir::Contextualize* block : document.contextualizes) {
    for (const hir::Item& each : block->items) {
      const hir::Item* item = &each;
      if (!document.systems.find(item->system.text) && !may_be_defined(document, "system", item->system.text))
        unknown(document.systems, DiagCode::UnknownSystem, "system", item->system, diagnostics);
      if (!document.configures.find(item->configure.text) &&
          !may_be_defined(document, "configure", item->configure.text))
        unknown(document.configures, DiagCode::UnknownConfigure, "configure", item->configure, diagnostics);
      if (item->tool && item->tool.text != "Ansible" && item->tool.text != "cloud_init")
        diagnostics.report(DiagCode::UnknownTool, item->tool.span, "`with` takes Ansible or cloud_init");
    }
    if (block->items.empty() && !block->options.empty())
      diagnostics.report(DiagCode::OnlyOptions, block->keyword.span,
                         "without items nothing is configured at all");
  }
  for (const auto& [old, made] : document.replaced_items)
    diagnostics
        .report(DiagCode::ItemReplaced, old->span,
                "a later item for the same system and configure replaces this one")
        .note(made->span, "it is replaced by this one");
  const hir::Item *zero = nullptr, *later = nullptr;
  for (const hir::Item* item : document.items) {
    bool none = !item->step || item->step->real == 0;
    if (none && item->tool.text != "cloud_init" && item->after.empty() && !zero) zero = item;
    if (!none && !later) later = item;
  }
  if (zero && later)
    diagnostics
        .report(DiagCode::StepZeroMixed, zero->span, "an item without `step` runs before all that have one")
        .note(later->span, "this one has a step");
  for (const hir::Feature* option : document.options)
    if (!find_feature(Scope::Option, option->name))
      diagnostics.report(DiagCode::UnknownOption, option->name_span,
                         "option `" + std::string(option->name) + "` has no meaning");
}

// The first name that a part of a cluster leaves to other files.
void warn_partial(const Document& document, Diagnostics& diagnostics) {
  if (!document.partial) return;
  const ast::Name* name = nullptr;
  for (const hir::Deploy* deploy : document.deploys)
    if (!name && !document.systems.find(deploy->system.text)) name = &deploy->system;
  for (const hir::Item* item : document.items) {
    if (!name && !document.systems.find(item->system.text)) name = &item->system;
    if (!name && !document.configures.find(item->configure.text)) name = &item->configure;
  }
  if (!name) return;
  diagnostics
      .report(DiagCode::LeftToOthers, name->span,
              "`" + std::string(name->text) + "` is left to another file of the cluster")
      .with_help("give all files of the cluster together, the main one first");
}

namespace {

// Networks of this document that no system names. Mostly the first systems name them all.
std::vector<const Definition*> unconnected(const Document& document) {
  std::vector<const Definition*> left;
  for (const Definition& network : document.networks.list)
    if (!network.reference && !document.partial) left.push_back(&network);
  std::set<std::string_view> names;
  for (const Definition* network : left) names.insert(network->block->name.text);
  for (const Definition& system : document.systems.list) {
    if (names.empty()) break;
    for (const Merged& item : system.features.items)
      if (auto network = item.text(); network && item.name().ends_with(".connection")) names.erase(*network);
  }
  std::erase_if(left, [&](const Definition* network) { return !names.contains(network->block->name.text); });
  return left;
}

}  // namespace

void check_unused(const Document& document, Diagnostics& diagnostics, const CheckOptions& options) {
  // An addition to a running infrastructure, or a component, deploys nothing itself.
  if (document.deploys.empty()) return;
  std::set<std::string_view> configured;
  std::vector<bool> deployed(document.systems.list.size());
  auto deploys = [&](std::string_view name) {
    if (auto at = document.systems.index.find(name); at != document.systems.index.end())
      deployed[at->second] = true;
  };
  for (const hir::Deploy* deploy : document.deploys) deploys(deploy->system.text);
  for (const hir::Item* item : document.items) configured.insert(item->configure.text);
  if (options.left_out != nullptr) {
    for (const std::string& name : options.left_out->deployed) deploys(name);
    for (const std::string& name : options.left_out->configured) configured.insert(name);
  }
  auto warn = [&](DiagCode code, const ast::Name& name, std::string_view what) -> Diagnostic& {
    return diagnostics.report(code, name.span,
                              std::string(what) + " `" + std::string(name.text) + "` is never " +
                                  (code == DiagCode::UnusedSystem      ? "deployed"
                                   : code == DiagCode::UnusedConfigure ? "used"
                                                                       : "connected to"));
  };
  for (size_t i = 0; i < deployed.size(); ++i) {
    const Definition& system = document.systems.list[i];
    if (!deployed[i] && !system.reference && document.dialect != ast::Dialect::Ec3)
      warn(DiagCode::UnusedSystem, system.block->name, "system");
  }
  for (const Definition* network : unconnected(document))
    warn(DiagCode::UnusedNetwork, network->block->name, "network");
  for (const ConfigureDefinition& configure : document.configures.list) {
    const ast::Name& name = configure.block->name;
    bool by_name = !document.contextualized && document.systems.find(name.text);
    bool empty = configure.written().recipe == nullptr && configure.written().resources.empty();
    bool included = empty || document.systems.find(name.text);
    if (!configured.contains(name.text) && !by_name && !included)
      warn(DiagCode::UnusedConfigure, name, "configure")
          .with_help("an item runs it: `contextualize ( system " +
                     std::string(document.deploys.front()->system.text) + " configure " +
                     std::string(name.text) + " )`");
  }
}

void check_document(const Document& document, Diagnostics& diagnostics, const CheckOptions& options) {
  check_networks(document, diagnostics, options);
  check_ansibles(document, diagnostics);
  check_systems(document, diagnostics, options);
  check_deploys(document, diagnostics);
  check_configures(document, diagnostics);
  check_contextualize(document, diagnostics);
  warn_partial(document, diagnostics);
  for (const Definition& description : document.descriptions)
    check_set(Scope::Description, description.features, document, diagnostics, options);
  // What a misspelt name was to use is not unused.
  bool misspelt = diagnostics.has(DiagCode::UnknownNetwork) || diagnostics.has(DiagCode::UnknownSystem) ||
                  diagnostics.has(DiagCode::UnknownConfigure);
  if (options.unused && !misspelt) check_unused(document, diagnostics, options);
}

}  // namespace radl::sema
