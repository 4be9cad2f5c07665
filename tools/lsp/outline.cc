// The shape of a file: symbols, folds, growing selections, links to modules.
#include <algorithm>

#include "common/shorten.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/walk.h"
#include "tools/lsp/answers.h"
#include "tools/lsp/uri.h"

namespace radl::lsp {
namespace {

// LSP's SymbolKind numbers.
int symbol_kind(const ast::Block& block) {
  constexpr int kString = 15;
  static constexpr std::pair<ast::Kind, int> kinds[] = {
      {ast::Kind::System, 5},          // Class
      {ast::Kind::Network, 11},        // Interface
      {ast::Kind::Configure, 12},      // Function
      {ast::Kind::Contextualize, 24},  // Event
      {ast::Kind::Deploy, 19},         // Object
      {ast::Kind::Input, 13},          // Variable
      {ast::Kind::Output, 7},          // Property
      {ast::Kind::Let, 14},            // Constant
      {ast::Kind::Each, 18},           // Array
      {ast::Kind::Use, 2},             // Module
      {ast::Kind::Ansible, 3},         // Namespace
  };
  for (const auto& [known, kind] : kinds)
    if (known == block.kind) return kind;
  return kString;
}

Json symbol(const Query& query, std::string name, std::string detail, int kind, Span span, Span selection) {
  if (name.empty()) name = "?";
  return {{"name", std::move(name)},
          {"detail", std::move(detail)},
          {"kind", kind},
          {"range", query.range(span)},
          {"selectionRange", query.range(selection)}};
}

std::string one_line(std::string_view text) {
  std::string out = shorten(text, 80);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

Json feature_symbols(const Query& query, const ast::Features& list, int depth = 0) {
  Json children = Json::array();
  for (const ast::Feature* feature : list.items) {
    if (feature->form == ast::FeatureKind::Error || depth > 20) continue;
    bool soft = feature->form == ast::FeatureKind::Soft;
    std::string name = soft ? "soft " + std::string(feature->weight ? feature->weight->digits : "")
                            : std::string(feature->name.text);
    std::string detail = feature->value ? one_line(query.analysis->source.text(feature->value->span)) : "";
    Span selection = soft || !feature->name ? feature->span : feature->name.span;
    Json child = symbol(query, std::move(name), std::move(detail), 7, feature->span, selection);
    if (feature->group) child["children"] = feature_symbols(query, *feature->group, depth + 1);
    children.push_back(std::move(child));
  }
  return children;
}

// `each x in LIST`, without what follows.
std::string head_of(const Query& query, const ast::Each& each) {
  std::string head = one_line(query.analysis->source.text(each.span));
  return each.let || head.starts_with("each") ? head : "each " + head;
}

Json resource_symbols(const Query& query, const List<ast::Resource*>& list) {
  Json children = Json::array();
  for (const ast::Resource* resource : list) {
    if (resource->each) {
      Json child =
          symbol(query, head_of(query, *resource->each), "", 18, resource->span, resource->each->first.span);
      child["children"] = resource_symbols(query, resource->inner);
      children.push_back(std::move(child));
      continue;
    }
    std::string name = std::string(resource->type.text) + " ";
    if (resource->name) name += one_line(query.analysis->source.text(resource->name->span));
    Json child = symbol(query, std::move(name), "", 8, resource->span, resource->type.span);
    child["children"] = feature_symbols(query, resource->body);
    children.push_back(std::move(child));
  }
  return children;
}

Json item_symbols(const Query& query, const List<ast::Item*>& list) {
  Json children = Json::array();
  for (const ast::Item* item : list) {
    if (item->each) {
      Json child = symbol(query, head_of(query, *item->each), "", 18, item->span, item->each->first.span);
      child["children"] = item_symbols(query, item->inner);
      children.push_back(std::move(child));
      continue;
    }
    std::string system(item->systems ? one_line(query.analysis->source.text(item->systems->span))
                                     : std::string(item->system.text));
    std::string detail = item->step ? "step " + std::string(item->step->digits) : "";
    children.push_back(symbol(query, system + " " + std::string(item->configure.text), std::move(detail), 24,
                              item->span, item->span));
  }
  return children;
}

Json block_symbols(const Query& query, const List<ast::Block*>& list);

Json children_of(const Query& query, const ast::Block& block) {
  if (auto* feature_block = ast::as<ast::FeatureBlock>(&block))
    return feature_symbols(query, feature_block->body);
  if (auto* use = ast::as<ast::Use>(&block)) return feature_symbols(query, use->body);
  if (auto* configure = ast::as<ast::Configure>(&block)) return resource_symbols(query, configure->resources);
  if (auto* context = ast::as<ast::Contextualize>(&block)) return item_symbols(query, context->items);
  if (auto* each = ast::as<ast::EachBlock>(&block)) return block_symbols(query, each->blocks);
  return Json::array();
}

Json block_symbols(const Query& query, const List<ast::Block*>& list) {
  Json symbols = Json::array();
  for (const ast::Block* block : list) {
    if (block->kind == ast::Kind::ErrorBlock || block->kind == ast::Kind::Version) continue;
    std::string name(block->name ? block->name.text : block->keyword.text);
    Span selection = block->name ? block->name.span : block->keyword.span;
    if (block->named) {
      name = one_line(query.analysis->source.text(block->named->span));
      selection = block->named->span;
    }
    if (auto* each = ast::as<ast::EachBlock>(block)) name = head_of(query, each->each);
    Json entry = symbol(query, std::move(name), std::string(block->keyword.text), symbol_kind(*block),
                        block->span, selection);
    entry["children"] = children_of(query, *block);
    symbols.push_back(std::move(entry));
  }
  return symbols;
}

void fold(const Query& query, Json& folds, Span span, const char* kind, bool keep_last_line) {
  Range range = query.analysis->range(span, query.workspace.encoding);
  uint32_t last = range.end.line;
  if (keep_last_line && last > range.start.line) --last;
  if (last <= range.start.line) return;
  Json fold = {{"startLine", range.start.line}, {"endLine", last}};
  if (kind) fold["kind"] = kind;
  folds.push_back(std::move(fold));
}

void fold_groups(const Query& query, Json& folds, const ast::Features& list, int depth = 0) {
  for (const ast::Feature* feature : list.items) {
    if (!feature->group || depth > 20) continue;
    fold(query, folds, feature->group->span, nullptr, true);
    fold_groups(query, folds, *feature->group, depth + 1);
  }
}

void fold_resources(const Query& query, Json& folds, const List<ast::Resource*>& list) {
  for (const ast::Resource* resource : list) {
    fold(query, folds, resource->span, nullptr, true);
    fold_resources(query, folds, resource->inner);
  }
}

// Comments on lines of their own, one below the other.
void fold_comments(const Query& query, Json& folds) {
  std::string_view text = query.analysis->source.text();
  const auto& trivia = query.analysis->tree->trivia;
  auto line = [&](size_t i) { return query.analysis->range(trivia[i].span, Encoding::Utf8).start.line; };
  auto alone = [&](size_t i) {
    uint32_t at = trivia[i].span.begin;
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
    return trivia[i].kind == ast::TriviaKind::Comment && (at == 0 || text[at - 1] == '\n');
  };
  for (size_t i = 0; i < trivia.size();) {
    size_t last = i;
    while (alone(i) && last + 1 < trivia.size() && alone(last + 1) && line(last + 1) == line(last) + 1)
      ++last;
    if (last > i) folds.push_back({{"startLine", line(i)}, {"endLine", line(last)}, {"kind", "comment"}});
    i = last + 1;
  }
}

// Spans that hold the offset, from the file inwards.
class Containers {
 public:
  Containers(const ast::Tree& tree, uint32_t offset) : offset_(offset) {
    add(tree.source->whole());
    each_block(tree.blocks, [this](const ast::Block& block) { this->block(block); });
  }
  const std::vector<Span>& spans() const { return spans_; }

 private:
  bool add(Span span) {
    if (!span.known() || offset_ < span.begin || offset_ > span.end) return false;
    bool inside = spans_.empty() || (span.begin >= spans_.back().begin && span.end <= spans_.back().end);
    if (inside && (spans_.empty() || !(span == spans_.back()))) spans_.push_back(span);
    return inside;
  }
  void block(const ast::Block& block) {
    if (!add(block.span)) return;
    if (block.name) add(block.name.span);
    if (auto* feature_block = ast::as<ast::FeatureBlock>(&block)) features(feature_block->body);
    if (auto* use = ast::as<ast::Use>(&block)) features(use->body);
    if (auto* each = ast::as<ast::EachBlock>(&block)) add(each->body_span);
    if (auto* configure = ast::as<ast::Configure>(&block)) {
      add(configure->body_span);
      if (configure->recipe) add(configure->recipe->span);
      resources(configure->resources);
    }
    if (auto* context = ast::as<ast::Contextualize>(&block)) {
      add(context->body_span);
      items(context->items);
    }
  }
  void resources(const List<ast::Resource*>& list) {
    for (const ast::Resource* resource : list) {
      if (!add(resource->span)) continue;
      features(resource->body);
      resources(resource->inner);
    }
  }
  void items(const List<ast::Item*>& list) {
    for (const ast::Item* item : list) {
      if (add(item->span)) items(item->inner);
    }
  }
  void features(const ast::Features& list) {
    if (!list.present || !add(list.span)) return;
    for (const ast::Feature* feature : list.items) {
      if (!add(feature->span)) continue;
      if (feature->name) add(feature->name.span);
      if (feature->value) add(feature->value->span);
      if (feature->group) features(*feature->group);
    }
  }

  uint32_t offset_;
  std::vector<Span> spans_;
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Are the letters of `wanted` in `name`, in order?
bool matches(std::string_view name, std::string_view wanted) {
  size_t at = 0;
  for (char c : name) {
    if (at < wanted.size() && lower(c) == lower(wanted[at])) ++at;
  }
  return at == wanted.size();
}

}  // namespace

Json document_symbols(const Query& query) { return block_symbols(query, query.analysis->tree->blocks); }

Json folding_ranges(const Query& query) {
  Json folds = Json::array();
  each_block(query.analysis->tree->blocks, [&](const ast::Block& block) {
    if (block.kind == ast::Kind::ErrorBlock) return;
    fold(query, folds, block.span, nullptr, true);
    if (auto* feature_block = ast::as<ast::FeatureBlock>(&block))
      fold_groups(query, folds, feature_block->body);
    if (auto* use = ast::as<ast::Use>(&block)) fold_groups(query, folds, use->body);
    auto* configure = ast::as<ast::Configure>(&block);
    if (!configure) return;
    if (configure->recipe) fold(query, folds, configure->recipe->span, "region", true);
    fold_resources(query, folds, configure->resources);
  });
  fold_comments(query, folds);
  return folds;
}

Json selection_ranges(const Query& query, const Json& params) {
  Json result = Json::array();
  for (const Json& position : params.at("positions")) {
    Containers containers(*query.analysis->tree, query.offset(position));
    Json chain;
    for (Span span : containers.spans()) {
      Json next = {{"range", query.range(span)}};
      if (!chain.is_null()) next["parent"] = std::move(chain);
      chain = std::move(next);
    }
    result.push_back(std::move(chain));
  }
  return result;
}

Json document_links(const Query& query) {
  Json links = Json::array();
  for (const Definition& definition : query.analysis->symbols.definitions) {
    auto* use = ast::as<ast::Use>(definition.block);
    if (!use || !use->module) continue;
    auto path = query.workspace.module_path(std::string(use->module->text), query.analysis->path);
    if (!path) continue;
    links.push_back(
        {{"range", query.range(use->module->span)}, {"target", uri_of_path(*path)}, {"tooltip", *path}});
  }
  return links;
}

Json workspace_symbols(Workspace& workspace, const std::string& wanted, const Stop& stop) {
  constexpr size_t kMost = 1000;
  Json found = Json::array();
  for (const AnalysisPtr& in : workspace.everything(stop)) {
    for (const Definition& definition : in->symbols.definitions) {
      if (!definition.block || definition.space == Space::Other || !matches(definition.name, wanted) ||
          found.size() >= kMost)
        continue;
      Json location = {{"uri", in->uri},
                       {"range", range_json(in->range(definition.name_span, workspace.encoding))}};
      found.push_back({{"name", definition.name},
                       {"kind", symbol_kind(*definition.block)},
                       {"containerName", space_name(definition.space)},
                       {"location", std::move(location)}});
    }
  }
  return found;
}

}  // namespace radl::lsp
