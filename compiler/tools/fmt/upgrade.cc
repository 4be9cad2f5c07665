#include "compiler/tools/fmt/upgrade.h"

#include <algorithm>
#include <vector>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/walk.h"

namespace radl::formatter {
namespace {

struct Edit {
  uint32_t begin, end;
  std::string text;
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\n") == std::string_view::npos; }

bool is_name(std::string_view text) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

class Upgrader {
 public:
  explicit Upgrader(const ast::Tree& tree) : tree_(tree), text_(tree.source->text()) {}

  std::string run() {
    bool older = tree_.dialect == ast::Dialect::Radl1;
    each_block(tree_.blocks, [&](const ast::Block& block) {
      if (older) return;
      if (block.kind == ast::Kind::Input) type_of(*ast::as<ast::FeatureBlock>(&block));
      if (auto* deploy = ast::as<ast::Deploy>(&block); deploy && deploy->count) parentheses(*deploy->count);
      if (auto* configure = ast::as<ast::Configure>(&block)) resources(configure->resources);
    });
    for (const ast::Block* block : tree_.blocks)
      each_value(*block, [&](const ast::Expr& value) { this->value(value); });
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string out = older ? "radl 2\n\n" : "";
    uint32_t done = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < done) continue;  // inside what another one replaced
      out += text_.substr(done, edit.begin - done);
      out += edit.text;
      done = edit.end;
    }
    return out += text_.substr(done);
  }

 private:
  // type = 'integer'
  void type_of(const ast::FeatureBlock& input) {
    for (const ast::Feature* feature : input.body.items) {
      auto* type = ast::as<ast::String>(feature->value);
      if (type && feature->name.text == "type" && type->parts.empty() && is_name(type->text))
        edits_.push_back({type->span.begin, type->span.end, std::string(type->text)});
    }
  }

  // ( value ), without them.
  void parentheses(const ast::Expr& value) {
    size_t open = text_.find_last_not_of(" \t\n", value.span.begin - 1);
    size_t close = text_.find_first_not_of(" \t\n", value.span.end);
    if (open == text_.npos || close == text_.npos || text_[open] != '(' || text_[close] != ')') return;
    edits_.push_back(
        {static_cast<uint32_t>(open), value.span.begin, open > 0 && text_[open - 1] != ' ' ? " " : ""});
    edits_.push_back({value.span.end, static_cast<uint32_t>(close + 1), ""});
  }

  // package 'git' ()
  void resources(const List<ast::Resource*>& list) {
    for (const ast::Resource* resource : list) {
      Span body = resource->body.span;
      bool empty = resource->body.present && resource->body.items.empty() && body.size() >= 2 &&
                   is_blank(text_.substr(body.begin + 1, body.size() - 2));
      if (empty) edits_.push_back({body.begin, body.end, ""});
      resources(resource->inner);
    }
  }

  void value(const ast::Expr& value) {
    if (auto* call = ast::as<ast::Call>(&value)) map(*call);
    if (auto* text = ast::as<ast::String>(&value)) lines(*text);
    if (value.kind == ast::Kind::String) return;
    each_part(value, [this](const ast::Expr& part) { this->value(part); });
  }

  // map('a', 1, 'b', 2): { a = 1, b = 2 }
  void map(const ast::Call& call) {
    if (call.function.text != "map" || call.arguments.size() % 2 != 0 || !call.named.empty()) return;
    std::vector<Edit> made;
    uint32_t open = call.function.span.end + 1;
    made.push_back({call.span.begin, open, "{"});
    for (size_t i = 0; i < call.arguments.size(); i += 2) {
      auto* key = ast::as<ast::String>(call.arguments[i]);
      size_t comma = key ? text_.find(',', key->span.end) : text_.npos;
      bool plain = key && key->parts.empty() && comma != text_.npos &&
                   is_blank(text_.substr(key->span.end, comma - key->span.end));
      if (!plain) return;
      std::string name(is_name(key->text) ? key->text : text_.substr(key->span.begin, key->span.size()));
      made.push_back({key->span.begin, static_cast<uint32_t>(comma + 1), name + " ="});
    }
    made.push_back({call.span.end - 1, call.span.end, "}"});
    edits_.insert(edits_.end(), made.begin(), made.end());
  }

  // Lines in single quotes: a block of text, where that is the same value.
  void lines(const ast::String& text) {
    std::string_view inner = text_.substr(text.span.begin + 1, text.span.size() - 2);
    if (tree_.dialect == ast::Dialect::Radl1) return dollars(text, inner);
    bool several = std::count(inner.begin(), inner.end(), '\n') > 1 && inner.ends_with('\n');
    if (!several || text_[text.span.begin] != '\'' || inner.find('\\') != inner.npos || indented(inner))
      return;
    std::string mark = "END";
    while (inner.find(mark) != inner.npos) mark += "_";
    edits_.push_back({text.span.begin, text.span.end, "<<" + mark + "\n" + std::string(inner) + mark});
  }
  // A block's least indentation is no part of it.
  static bool indented(std::string_view lines) {
    while (!lines.empty()) {
      if (lines[0] != ' ' && lines[0] != '\t' && lines[0] != '\n') return false;
      lines.remove_prefix(lines.find('\n') + 1);
    }
    return true;
  }
  // ${ means nothing in RADL 1.
  void dollars(const ast::String& text, std::string_view inner) {
    for (size_t at = inner.find("${"); at != inner.npos; at = inner.find("${", at + 2)) {
      uint32_t place = text.span.begin + 1 + static_cast<uint32_t>(at);
      edits_.push_back({place, place, "$"});
    }
  }

  const ast::Tree& tree_;
  std::string_view text_;
  std::vector<Edit> edits_;
};

}  // namespace

Result<std::string> upgrade(const SourceFile& source, Diagnostics& diagnostics, const Options& options) {
  auto tree = parse(source, diagnostics);
  if (tree->syntax_errors) return invalid(source.path() + " has syntax errors and was left alone");
  if (tree->dialect == ast::Dialect::Ec3 || tree->ec3_mark || !tree->ec3_uses.empty())
    return invalid(source.path() +
                   " is written in EC3's dialect, which `radl 2` has no form for; it was left alone");
  if (tree->dialect == ast::Dialect::Radl1 && source.text().find("@input.") != std::string_view::npos)
    return invalid(source.path() +
                   " has @input.NAME@, which `radl 2` reads as `input.NAME` of a declared input; "
                   "declare it first; the file was left alone");
  Diagnostics found;
  SourceFile upgraded(source.id(), source.path(), Upgrader(*tree).run());
  auto text = format(upgraded, found, options);
  if (text.ok()) return text;
  std::string why = found.all().empty() ? text.status().message() : found.all()[0].message;
  return invalid(source.path() + " cannot be written as `radl 2` and was left alone: " + why);
}

}  // namespace radl::formatter
