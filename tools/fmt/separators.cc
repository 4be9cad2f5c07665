// From `and` between entries to commas and line ends.
#include "tools/fmt/separators.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "compiler/syntax/older.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/places.h"
#include "compiler/syntax/version.h"
#include "compiler/syntax/walk.h"
#include "tools/fmt/format.h"

namespace radl::formatter {
namespace {

class Separators {
 public:
  explicit Separators(std::string_view text) : text_(text) {}

  std::vector<Rewrite> of(const ast::Tree& tree) {
    each_block(tree.blocks, [&](const ast::Block& block) {
      if (auto* part = ast::as<ast::FeatureBlock>(&block)) features(part->body);
      if (auto* use = ast::as<ast::Use>(&block)) features(use->body);
      if (auto* configure = ast::as<ast::Configure>(&block)) resources(configure->resources);
      if (auto* context = ast::as<ast::Contextualize>(&block)) items(context->items);
    });
    return std::move(edits_);
  }

 private:
  void features(const ast::Features& list) {
    for (const ast::Feature* feature : list.items)
      if (feature->group) features(*feature->group);
    if (!list.items.empty()) separator(list.span.begin + 1, list.items[0]->span.begin, true);
    between(list.items);
  }
  void resources(const List<ast::Resource*>& list) {
    for (const ast::Resource* resource : list) {
      features(resource->body);
      resources(resource->inner);
    }
    between(list);
  }
  void items(const List<ast::Item*>& list) {
    for (const ast::Item* item : list) items(item->inner);
    between(list);
  }

  template <class Entry>
  void between(const List<Entry*>& entries) {
    for (size_t i = 1; i < entries.size(); ++i)
      separator(entries[i - 1]->span.end, entries[i]->span.begin, false);
  }

  // A comma instead of the `and` between two entries; nothing where a line ends before or behind it.
  void separator(size_t from, size_t to, bool leads) {
    for (; from < to && text_.substr(from, 3) != "and"; ++from)
      if (text_[from] == '#') from = std::min(text_.find('\n', from), to);
    if (from + 3 > to) return;
    size_t begin = text_.find_last_not_of(" \t", from - 1) + 1;
    const bool own_line = text_[begin - 1] == '\n' || text_.substr(from, to - from).find('\n') != text_.npos;
    edits_.push_back(
        {static_cast<uint32_t>(begin), static_cast<uint32_t>(from + 3), leads || own_line ? "" : ","});
  }

  std::string_view text_;
  std::vector<Rewrite> edits_;
};

}  // namespace

std::string rewritten(std::string_view text, std::vector<Rewrite> edits, size_t from) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Rewrite& a, const Rewrite& b) { return a.begin < b.begin; });
  std::string made;
  size_t done = from;
  for (const Rewrite& edit : edits) {
    if (edit.begin < done) continue;
    made.append(text, done, edit.begin - done).append(edit.text);
    done = edit.end;
  }
  return made.append(text.substr(done));
}

std::string with_quoted_places(const SourceFile& source) {
  Diagnostics found;
  auto tree = parse(source, found);
  if (tree->syntax_errors) return std::string(source.text());
  std::vector<Rewrite> edits;
  for (const Diagnostic& one : found.all())
    if (one.code == DiagCode::PlaceValue && !one.fixes.empty())
      for (const TextEdit& edit : one.fixes[0].edits)
        edits.push_back({edit.span.begin, edit.span.end, edit.replacement});
  for (const PlaceWord& one : place_words(*tree, {tree.get()}))
    if (one.of_system)
      edits.push_back({one.word->span.begin, one.word->span.end, "'${" + std::string(one.word->text) + "}'"});
  return rewritten(source.text(), std::move(edits));
}

std::vector<Rewrite> without_and(const ast::Tree& tree, std::string_view text) {
  return Separators(text).of(tree);
}

std::optional<std::string> separated_by_lines(const SourceFile& source) {
  if (!begins_with_version(source.text())) return std::nullopt;
  Diagnostics unheard;
  if (!parse(source, unheard)->syntax_errors) return std::nullopt;
  auto older = parse_older(source, unheard);
  if (older->syntax_errors) return std::nullopt;
  std::string made = rewritten(source.text(), without_and(*older, source.text()));
  const SourceFile again(source.id(), source.path(), made);
  auto tree = parse(again, unheard);
  if (tree->syntax_errors || !same_meaning(*older, *tree)) return std::nullopt;
  return made;
}

}  // namespace radl::formatter
