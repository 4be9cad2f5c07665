// Where a name is defined and used; renaming.
#include <algorithm>
#include <map>

#include "compiler/syntax/words.h"
#include "tools/lsp/answers.h"
#include "tools/lsp/uri.h"

namespace radl::lsp {
namespace {

// A place in one of several files.
struct Place {
  AnalysisPtr in;
  Span span;
  bool definition = false;
};

// The module that `alias` stands for in a file.
AnalysisPtr module_of(Workspace& workspace, const Analysis& in, std::string_view alias) {
  const Definition* use = in.symbols.find(Space::Module, alias);
  auto* block = use ? ast::as<ast::Use>(use->block) : nullptr;
  if (!block || !block->module) return nullptr;
  auto path = workspace.module_path(std::string(block->module->text), in.path);
  return path ? workspace.file(*path) : nullptr;
}

const ast::Use* module_text_at(const Analysis& in, uint32_t offset) {
  for (const Definition& definition : in.symbols.definitions) {
    auto* use = ast::as<ast::Use>(definition.block);
    if (use && use->module && use->module->span.begin <= offset && offset <= use->module->span.end)
      return use;
  }
  return nullptr;
}

Space space_in_module(Space space) { return space == Space::ModuleInput ? Space::Input : Space::Output; }

std::vector<Place> definitions_of(const Query& query, const Occurrence& item) {
  std::vector<Place> found;
  AnalysisPtr in = query.analysis;
  Space space = item.space;
  if (space == Space::ModuleInput || space == Space::ModuleOutput) {
    in = module_of(query.workspace, *query.analysis, item.container);
    space = space_in_module(space);
  }
  if (!in) return found;
  for (const Definition& definition : in->symbols.definitions) {
    if (definition.space == space && definition.name == item.name && definition.scope == item.scope)
      found.push_back({in, definition.name_span, true});
  }
  return found;
}

// Uses of an input or output of `owner` in other files: `use` blocks that mean it.
void uses_elsewhere(const Query& query, const Analysis& owner, const Occurrence& item,
                    std::vector<Place>& found) {
  Space wanted = item.space == Space::Input ? Space::ModuleInput : Space::ModuleOutput;
  for (const AnalysisPtr& in : query.workspace.everything(query.stop)) {
    if (query.stop.asked()) return;
    for (const Occurrence& other : in->symbols.occurrences) {
      if (other.space != wanted || other.name != item.name) continue;
      AnalysisPtr module = module_of(query.workspace, *in, other.container);
      if (module && module->path == owner.path) found.push_back({in, other.span, false});
    }
  }
}

// Every place of the name, in this file and, for what modules give and take, in others.
std::vector<Place> places_of(const Query& query, const Occurrence& item) {
  std::vector<Place> found;
  AnalysisPtr owner = query.analysis;
  Occurrence like = item;
  if (item.space == Space::ModuleInput || item.space == Space::ModuleOutput) {
    owner = module_of(query.workspace, *query.analysis, item.container);
    like.space = space_in_module(item.space);
    like.container = {};
    if (!owner || !owner->symbols.find(like.space, like.name)) {
      for (const Occurrence* each : query.analysis->symbols.all(item))
        found.push_back({query.analysis, each->span, false});
      return found;
    }
  }
  for (const Occurrence* each : owner->symbols.all(like))
    found.push_back({owner, each->span, each->definition});
  if (like.space == Space::Input || like.space == Space::Output) uses_elsewhere(query, *owner, like, found);
  return found;
}

// What is wrong with a new name; "" when nothing is.
std::string name_problem(std::string_view name, Space space) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-' || (c & 0x80); };
  bool dots = space != Space::Input && space != Space::Output && space != Space::Module;
  if (name.empty() || !(letter(name[0]) || (dots && name[0] == '.')))
    return "a name begins with a letter or _";
  for (char c : name) {
    if (!inner(c) && !(dots && c == '.')) return "a name has letters, digits, _ and - only";
  }
  return is_reserved_in_radl1(name) ? "'" + std::string(name) + "' is a word of the language" : "";
}

// A recipe and a system of one name belong together where nothing else says which recipe runs where.
bool tied_by_name(const Analysis& in, const Occurrence& item) {
  if (item.space != Space::System && item.space != Space::Configure) return false;
  if (!in.symbols.find(Space::System, item.name) || !in.symbols.find(Space::Configure, item.name))
    return false;
  auto* configure = ast::as<ast::Configure>(in.symbols.find(Space::Configure, item.name)->block);
  if (configure && configure->has_body && !configure->recipe && configure->resources.empty()) return true;
  return std::none_of(in.tree->blocks.begin(), in.tree->blocks.end(),
                      [](const ast::Block* block) { return block->kind == ast::Kind::Contextualize; });
}

// A name that other people's files have would have to change there, too.
void refuse_foreign(const Query& query, const std::vector<Place>& places) {
  for (const Place& place : places) {
    std::string why = query.workspace.not_to_edit(place.in->path);
    if (!why.empty()) throw Refused{place.in->path + " cannot be edited: " + why};
  }
}

const Occurrence* occurrence_at(const Query& query, const Json& params) {
  return query.analysis->symbols.at(query.offset(params.at("position")));
}

}  // namespace

Json definition(const Query& query, const Json& params) {
  uint32_t offset = query.offset(params.at("position"));
  if (const ast::Use* use = module_text_at(*query.analysis, offset)) {
    auto path = query.workspace.module_path(std::string(use->module->text), query.analysis->path);
    if (!path) return nullptr;
    return {{"uri", uri_of_path(*path)}, {"range", range_json({})}};
  }
  const Occurrence* item = query.analysis->symbols.at(offset);
  if (!item) return nullptr;
  Json found = Json::array();
  for (const Place& place : definitions_of(query, *item))
    found.push_back(query.location(*place.in, place.span));
  return found;
}

Json references(const Query& query, const Json& params) {
  const Occurrence* item = occurrence_at(query, params);
  Json found = Json::array();
  if (!item) return found;
  bool with_definition = true;
  if (auto context = params.find("context"); context != params.end()) {
    with_definition = context->value("includeDeclaration", true);
  }
  for (const Place& place : places_of(query, *item)) {
    if (with_definition || !place.definition) found.push_back(query.location(*place.in, place.span));
  }
  return found;
}

Json document_highlight(const Query& query, const Json& params) {
  const Occurrence* item = occurrence_at(query, params);
  Json found = Json::array();
  if (!item) return found;
  for (const Occurrence* each : query.analysis->symbols.all(*item)) {
    found.push_back({{"range", query.range(each->span)}, {"kind", each->definition ? 3 : 2}});  // write, read
  }
  return found;
}

Json prepare_rename(const Query& query, const Json& params) {
  const Occurrence* item = occurrence_at(query, params);
  if (!item || item->space == Space::Other) return nullptr;
  refuse_foreign(query, places_of(query, *item));
  return {{"range", query.range(item->span)}, {"placeholder", item->name}};
}

Json rename(const Query& query, const Json& params) {
  std::string name = params.at("newName").get<std::string>();
  const Occurrence* item = occurrence_at(query, params);
  if (!item || item->space == Space::Other) throw Refused{"nothing here can be renamed"};
  if (std::string problem = name_problem(name, item->space); !problem.empty()) throw Refused{problem};
  bool tied = tied_by_name(*query.analysis, *item);
  std::vector<Place> places = places_of(query, *item);
  refuse_foreign(query, places);
  if (tied) {
    Occurrence twin = *item;
    twin.space = item->space == Space::System ? Space::Configure : Space::System;
    for (const Occurrence* each : query.analysis->symbols.all(twin)) {
      places.push_back({query.analysis, each->span, each->definition});
    }
  }
  for (const Place& place : places) {
    if (!place.definition || name == item->name) continue;
    Space space = item->space == Space::ModuleInput || item->space == Space::ModuleOutput
                      ? space_in_module(item->space)
                      : item->space;
    if (place.in->symbols.find(space, name)) {
      throw Refused{"there is already a " + std::string(space_name(space)) + " '" + name + "'"};
    }
  }
  std::map<std::string, Json> changes;
  for (const Place& place : places) {
    Json& edits = changes.try_emplace(place.in->uri, Json::array()).first->second;
    edits.push_back({{"range", query.range(*place.in, place.span)}, {"newText", name}});
  }
  return {{"changes", changes}};
}

}  // namespace radl::lsp
