#include "compiler/syntax/places.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "compiler/source/source.h"
#include "compiler/syntax/walk.h"

namespace radl {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Writes a value of several lines on one.
class OneLine {
 public:
  explicit OneLine(const ast::Tree& tree) : tree_(tree) {}

  // nullopt: a string has several lines.
  std::optional<std::string> of(const ast::Expr& value) {
    read(value);
    if (text_of_lines_) return std::nullopt;
    std::string made;
    for (uint32_t at = value.span.begin; at < value.span.end;) {
      const uint32_t next = end_of_gap(at, value.span.end);
      const bool broken = source().substr(at, next - at).find('\n') != std::string_view::npos;
      if (!broken) {
        made += source()[at++];
        continue;
      }
      const auto entry = separators_.lower_bound(at);
      const bool separates = entry != separators_.end() && *entry < next;
      const bool tight = !made.empty() && (made.back() == '(' || made.back() == '[');
      const bool closes = next < value.span.end && (source()[next] == ')' || source()[next] == ']');
      made += separates ? ", " : tight || closes ? "" : " ";
      at = next;
    }
    return made;
  }

 private:
  std::string_view source() const { return tree_.source->text(); }

  // Finds strings of several lines, and the line ends that separate entries of maps.
  void read(const ast::Expr& value) {
    if (value.kind == ast::Kind::String) {
      text_of_lines_ |=
          source().substr(value.span.begin, value.span.size()).find('\n') != std::string_view::npos;
      return;
    }
    if (auto* map = ast::as<ast::MapValue>(&value))
      for (uint32_t i = 1; i < map->entries.size(); ++i)
        separator(map->entries[i - 1].value->span.end, map->entries[i].name.span.begin);
    each_part(value, [this](const ast::Expr& part) { read(part); });
  }

  // Notes the last line end between two entries if no comma separates them.
  void separator(uint32_t from, uint32_t to) {
    std::optional<uint32_t> line_end;
    for (uint32_t at = from; at < to; ++at) {
      if (const uint32_t comment = end_of_comment(at); comment != at)
        at = comment - 1;
      else if (source()[at] == ',')
        return;
      else if (source()[at] == '\n')
        line_end = at;
    }
    if (line_end) separators_.insert(*line_end);
  }

  // The end of the white space and comments that begin there.
  uint32_t end_of_gap(uint32_t at, uint32_t end) const {
    while (at < end) {
      const uint32_t comment = end_of_comment(at);
      if (comment == at && !is_space(source()[at])) break;
      at = std::max(comment, at + 1);
    }
    return std::min(at, end);
  }

  uint32_t end_of_comment(uint32_t at) const {
    for (const ast::Trivia& piece : tree_.trivia)
      if (piece.kind == ast::TriviaKind::Comment && piece.span.begin == at) return piece.span.end;
    return at;
  }

  const ast::Tree& tree_;
  std::set<uint32_t> separators_;
  bool text_of_lines_ = false;
};

// Follows the scopes of a file.
class PlaceWords {
 public:
  void declare(const List<ast::Block*>& blocks) {
    for (const ast::Block* block : blocks) {
      auto* let = ast::as<ast::Let>(block);
      if (let != nullptr && let->parameters.empty()) seen_.push_back({&let->name, false});
    }
  }

  void blocks(const List<ast::Block*>& list) {
    for (const ast::Block* block : list) {
      if (auto* each = ast::as<ast::EachBlock>(block)) {
        const size_t outside = seen_.size();
        declare(each->each);
        declare(each->blocks);
        blocks(each->blocks);
        seen_.resize(outside);
      } else if (block->kind == ast::Kind::System) {
        features(static_cast<const ast::FeatureBlock*>(block)->body);
      } else if (auto* deploy = ast::as<ast::Deploy>(block)) {
        word(deploy->cloud, false);
      }
    }
  }

  std::vector<PlaceWord> found;

 private:
  struct Seen {
    const ast::Name* name;
    bool of_each;
  };

  void declare(const ast::Each& each) {
    seen_.push_back({&each.first, !each.let});
    if (each.second) seen_.push_back({&each.second, true});
  }

  void features(const ast::Features& list) {
    for (const ast::Feature* feature : list.items) {
      const size_t outside = seen_.size();
      if (feature->each != nullptr) declare(*feature->each);
      if (feature->group != nullptr && feature->form != ast::FeatureKind::Contains) features(*feature->group);
      if (ast::is_place(feature->name.text)) word(feature->value, true);
      seen_.resize(outside);
    }
  }

  void word(const ast::Expr* value, bool of_system) {
    auto* text = ast::as<ast::String>(value);
    if (text == nullptr || !text->word) return;
    const auto hidden = std::find_if(seen_.rbegin(), seen_.rend(),
                                     [&](const Seen& one) { return one.name->text == text->text; });
    if (hidden != seen_.rend()) found.push_back({text, of_system, hidden->of_each, hidden->name});
  }

  std::vector<Seen> seen_;  // the innermost last
};

}  // namespace

std::optional<std::string> quoted_place(const ast::Expr& value, const ast::Tree& tree) {
  std::optional<std::string> line = OneLine(tree).of(value);
  if (line) *line = "'${" + *line + "}'";
  return line;
}

std::vector<PlaceWord> place_words(const ast::Tree& tree, const std::vector<const ast::Tree*>& trees) {
  if (tree.dialect != ast::Dialect::Radl2) return {};
  PlaceWords words;
  for (const ast::Tree* each : trees) words.declare(each->blocks);
  words.blocks(tree.blocks);
  return std::move(words.found);
}

}  // namespace radl
