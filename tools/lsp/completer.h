// Collects completions at a cursor: completion.cc by position, completion_values.cc for values and
// expressions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/lsp/answers.h"
#include "tools/lsp/cursor.h"
#include "tools/lsp/value_types.h"
#include "tools/lsp/vocabulary.h"

namespace radl::lsp {

// LSP's CompletionItemKind numbers.
enum ItemKind {
  kFunction = 3,
  kVariable = 6,
  kClass = 7,
  kInterface = 8,
  kModule = 9,
  kProperty = 10,
  kUnit = 11,
  kValue = 12,
  kKeyword = 14,
  kSnippet = 15,
  kFile = 17
};

class Completer {
 public:
  Completer(const Query& query, const Json& params)
      : query_(query),
        cursor_(read_cursor(query.analysis->source.text(), query.offset(params.at("position")),
                            query.analysis->tree.get())),
        replaced_(query.range({query.analysis->source.id(), cursor_.word_begin, cursor_.word_end})) {}

  Json run();

 private:
  void offer();

  // items

  Json& add(std::string_view label, ItemKind kind, std::string_view detail, std::string_view doc,
            std::string text = {}) {
    if (text.empty()) text = label;
    Json item = {{"label", label},
                 {"kind", kind},
                 {"textEdit", {{"range", replaced_}, {"newText", text}}},
                 {"filterText", text}};
    if (!detail.empty()) item["detail"] = detail;
    if (!doc.empty()) item["documentation"] = {{"kind", "markdown"}, {"value", doc}};
    items_.push_back(std::move(item));
    return items_.back();
  }
  void add_snippet(std::string_view label, ItemKind kind, std::string_view doc, std::string_view snippet);
  void words();  // words that the grammar accepts, block keywords separately
  void blocks();

  // features

  void feature_names();

  // disk.N.size: for the system's indices, and the next one.
  std::vector<std::string> with_indices(const std::string& name) const;
  void module_inputs();
  static std::string text_of(const Analysis& in, const ast::Block& block, std::string_view feature_name);
  static const ast::Expr* value_of(const ast::Block& block, std::string_view feature_name);

  // An input of type options(RESOURCE) also accepts the resource's properties.
  void options_of(const ast::Block& input);
  void offer_feature(const std::string& name, std::string_view detail, std::string_view doc);
  void comparators();

  // values

  void values();
  bool behind_dot() const;
  void types();
  void units(const Word& word);
  void quoted(const std::string& value, ItemKind kind, std::string_view doc);
  void quoted_names(Space space, ItemKind kind);
  void names(Space space, ItemKind kind);

  // From this analysis and the last one without errors, because an unfinished text may hide definitions.
  std::vector<std::string> known_names(Space space) const;
  void behind_value();

  // expressions of radl 2

  void expressions();
  void members(const std::string& head);
  // The type of `head` and the text before the cursor's word: `worker[0]`, `input.users[0]`.
  Holding holding_in_front(const std::string& head) const;
  bool holds(const std::string& name, std::string_view job) const;  // a configure with such a resource

  // recipes, items, modules

  void recipe_body();
  void steps();
  void clouds();
  void module_paths();
  void recipe_words();

  const Query& query_;
  Cursor cursor_;
  Json replaced_;
  Json items_ = Json::array();
};

}  // namespace radl::lsp
