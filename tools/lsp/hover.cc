// What the thing under the cursor is; what a call's arguments are; what a string does not show by itself.
#include <fmt/format.h>

#include "compiler/eval/evaluate.h"
#include "compiler/resources/resource_schema.h"
#include "compiler/syntax/walk.h"
#include "tools/doc/doc.h"
#include "tools/lsp/answers.h"
#include "tools/lsp/cursor.h"
#include "tools/lsp/value_types.h"
#include "tools/lsp/vocabulary.h"

namespace radl::lsp {
namespace {

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& each : list) out += (out.empty() ? "`" : ", `") + each + "`";
  return out;
}

std::string describe(const Word& word) {
  std::string out = fmt::format("**{}**: {}", word.name, word.kind);
  if (word.required) out += ", required";
  out += "\n\n" + word.doc;
  if (word.compares) out += "\n\nOperators: `=`, `<`, `>`, `<=`, `>=`";
  if (!word.values.empty()) out += "\n\nValues: " + joined(word.values);
  if (!word.units.empty()) out += "\n\nUnits: " + joined(word.units);
  if (!word.preset.empty()) out += "\n\nDefault: `" + word.preset + "`";
  return out;
}

// The block's text, shortened, and the comment above it.
std::string describe(const Analysis& in, const Definition& definition) {
  std::string text(in.source.text(definition.full_span));
  size_t lines = 0, end = 0;
  while (end < text.size() && lines < 15) lines += text[end++] == '\n' ? 1 : 0;
  if (end < text.size()) text = text.substr(0, end) + "...";
  std::string out = "```radl\n" + text + "\n```";
  std::string comment = comment_above(*in.tree, definition.full_span.begin);
  return comment.empty() ? out : out + "\n\n" + comment;
}

class Hoverer {
 public:
  Hoverer(const Query& query, uint32_t offset) : query_(query), in_(*query.analysis), offset_(offset) {}

  Json run() {
    if (const Occurrence* item = in_.symbols.at(offset_); item && item->space != Space::Other) {
      if (Json found = symbol(*item); !found.is_null()) return found;
    }
    for (const ast::Block* block : in_.tree->blocks) {
      if (offset_ < block->span.begin || offset_ > block->span.end) continue;
      Json found;
      each_value(*block, [&](const ast::Expr& expr) {
        if (found.is_null()) found = value(&expr);
      });
      return found.is_null() ? word() : found;
    }
    return nullptr;
  }

 private:
  // The definition of a loop's variable.
  const Definition* loop(const Occurrence& item) const {
    for (const Definition& definition : in_.symbols.definitions)
      if (definition.space == Space::Variable && definition.scope == item.scope) return &definition;
    return nullptr;
  }

  bool touches(Span span) const { return span.known() && span.begin <= offset_ && offset_ < span.end; }

  Json made(const std::string& text, Span span) const {
    return {{"contents", {{"kind", "markdown"}, {"value", text}}}, {"range", query_.range(span)}};
  }

  Json symbol(const Occurrence& item) const {
    AnalysisPtr in = query_.analysis;
    Space space = item.space;
    if (space == Space::ModuleInput || space == Space::ModuleOutput) {
      const Definition* use = in_.symbols.find(Space::Module, item.container);
      auto* block = use ? ast::as<ast::Use>(use->block) : nullptr;
      if (!block || !block->module) return nullptr;
      auto path = query_.workspace.module_path(std::string(block->module->text), in_.path);
      in = path ? query_.workspace.file(*path) : nullptr;
      space = space == Space::ModuleInput ? Space::Input : Space::Output;
    }
    const Definition* definition = in ? in->symbols.find(space, item.name) : nullptr;
    if (space == Space::Variable) definition = loop(item);
    if (!definition) return nullptr;
    return made(describe(*in, *definition) + machines(space, item.name), item.span);
  }

  // How many nodes of a system there will be, where the text says so.
  std::string machines(Space space, std::string_view name) const {
    if (space != Space::System) return "";
    std::string out;
    each_block(in_.tree->blocks, [&](const ast::Block& block) {
      auto* deploy = ast::as<ast::Deploy>(&block);
      if (!deploy || deploy->name.text != name || !deploy->count) return;
      out += (out.empty() ? "\n\nNodes: " : " + ") +
             ("`" + std::string(in_.source.text(deploy->count->span)) + "`");
    });
    return out.empty() ? "\n\nNot deployed in this file." : out;
  }

  // A word of the language at a place that the grammar knows: what it means there.
  Json word() const {
    const Cursor cursor = read_cursor(in_.source.text(), offset_, in_.tree.get());
    if (cursor.place == Place::Recipe) return recipe_word();
    if (offset_ >= cursor.word_end) return nullptr;
    const Span at{in_.source.id(), cursor.word_begin, cursor.word_end};
    const std::string name(in_.source.text(at));
    if (cursor.place == Place::Block) {
      for (const BlockWord& block : block_words())
        if (block.name == name) return made(fmt::format("**{}**\n\n{}", name, block.doc), at);
    } else if (cursor.place == Place::FeatureName) {
      if (auto feature = find_feature(cursor.owner, name)) return made(describe(*feature), at);
    } else if (cursor.place == Place::RecipeBody) {
      if (const ir::ResourceType* type = ir::find_resource_type(name))
        return made(fmt::format("**{}** '{}'\n\n{}\n\nTaken out again: {}", type->name, type->subject,
                                type->doc, type->undoing),
                    at);
    }
    return nullptr;
  }

  // A function's name, or the member after a dot, inside an expression.
  Json value(const ast::Expr* expr) const {
    if (!expr || offset_ < expr->span.begin || offset_ > expr->span.end) return nullptr;
    auto* call = ast::as<ast::Call>(expr);
    if (call && touches(call->function.span)) return function(*call);
    Json found;
    if (auto* reference = ast::as<ast::Reference>(expr)) found = member(*reference);
    each_part(*expr, [&](const ast::Expr& part) {
      if (found.is_null()) found = value(&part);
    });
    return found;
  }

  // `worker[0].private_ip`, `self.hostname`, `worker.count`.
  Json member(const ast::Reference& reference) const {
    const auto& parts = reference.parts;
    for (size_t i = 1; i < parts.size(); ++i) {
      if (!parts[i].name || !touches(parts[i].name.span)) continue;
      std::string_view first = parts[0].name.text;
      const std::vector<MemberWord>* members = nullptr;
      if (!parts[i - 1].name || (i == 1 && first == "self")) members = &node_members();
      if (i == 1 && first == "module") members = &module_members();
      if (i == 1 && in_.symbols.find(Space::System, first)) members = &system_members();
      const bool of_job = i == 1 && in_.symbols.find(Space::Configure, first) && !members;
      if (of_job) members = &job_members(true);
      const MemberWord* word = members ? find_member(*members, parts[i].name.text) : nullptr;
      if (of_job && !word) word = find_member(job_members(false), parts[i].name.text);
      if (word) return made(fmt::format("**{}**\n\n{}", word->name, word->doc), parts[i].name.span);
      return typed(reference, parts[i].name);
    }
    return nullptr;
  }

  // `input.disk.size`, `u.name` of a loop's variable, `n.private_ip` of a loop over nodes.
  Json typed(const ast::Reference& reference, const ast::Name& name) const {
    const uint32_t begin = reference.span.begin;
    const std::string_view path = in_.source.text({name.span.file, begin, name.span.begin - 1});
    const Holding holding = holding_of(query_, path, begin);
    for (const Field& field : fields_of(holding))
      if (field.name == name.text)
        return made(fmt::format("**{}**: `{}`", field.name, field.type), name.span);
    const bool system = holding.what == Holding::What::System;
    if (!system && holding.what != Holding::What::Node) return nullptr;
    const MemberWord* word = find_member(system ? system_members() : node_members(), name.text);
    return word ? made(fmt::format("**{}**\n\n{}", word->name, word->doc), name.span) : nullptr;
  }

  Json function(const ast::Call& call) const {
    for (const expr::FunctionInfo& info : expr::functions()) {
      if (info.name != call.function.text) continue;
      std::string text = fmt::format("**{}({})**\n\n{}", info.name, info.parameters, info.doc);
      if (!info.example.empty()) text += fmt::format("\n\n    {}", info.example);
      return made(text, call.function.span);
    }
    return nullptr;
  }

  Json recipe_word() const {
    auto is_word = [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    std::string_view text = in_.source.text();
    uint32_t begin = offset_, end = offset_;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    while (end < text.size() && is_word(text[end])) ++end;
    for (const RecipeVariable& variable : recipe_variables()) {
      if (variable.name == text.substr(begin, end - begin)) {
        return made(fmt::format("`{}`: {}", variable.name, variable.doc), {in_.source.id(), begin, end});
      }
    }
    return nullptr;
  }

  const Query& query_;
  const Analysis& in_;
  uint32_t offset_;
};

}  // namespace

Json hover(const Query& query, const Json& params) {
  return Hoverer(query, query.offset(params.at("position"))).run();
}

Json signature_help(const Query& query, const Json& params) {
  Cursor cursor = read_cursor(query.analysis->source.text(), query.offset(params.at("position")),
                              query.analysis->tree.get());
  for (const expr::FunctionInfo& info : expr::functions()) {
    if (cursor.call.empty() || info.name != cursor.call) continue;
    Json parameters = Json::array();
    std::string_view rest = info.parameters;
    while (!rest.empty()) {
      size_t comma = std::min(rest.find(", "), rest.size());
      parameters.push_back({{"label", rest.substr(0, comma)}});
      rest.remove_prefix(std::min(comma + 2, rest.size()));
    }
    Json signature = {{"label", fmt::format("{}({})", info.name, info.parameters)},
                      {"documentation", {{"kind", "markdown"}, {"value", info.doc}}},
                      {"parameters", std::move(parameters)}};
    return {{"signatures", Json::array({signature})},
            {"activeSignature", 0},
            {"activeParameter", cursor.argument}};
  }
  return nullptr;
}

}  // namespace radl::lsp
