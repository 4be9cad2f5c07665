#include "tools/fmt/upgrade.h"

#include <algorithm>
#include <vector>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/scanner.h"
#include "compiler/syntax/version.h"
#include "compiler/syntax/walk.h"
#include "tools/fmt/placeholders.h"
#include "tools/fmt/renames.h"
#include "tools/fmt/separators.h"

namespace radl::formatter {
namespace {

using Edit = Rewrite;

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\n") == std::string_view::npos; }

bool is_name(std::string_view text) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

class Upgrader {
 public:
  // `text`: what the tree was read from, but for the placeholders, of which `inputs` has what replaces them.
  Upgrader(const ast::Tree& tree, std::string_view text, Inputs inputs)
      : tree_(tree),
        text_(text),
        edits_(std::move(inputs.edits)),
        declarations_(std::move(inputs.declarations)) {}

  std::string run() {
    bool older = tree_.dialect == ast::Dialect::Radl1;
    if (older) {
      for (Edit& edit : without_and(tree_, text_)) edits_.push_back(std::move(edit));
      for (const ast::Trivia& piece : tree_.trivia)  // RADL 1 skips it
        if (piece.kind == ast::TriviaKind::Junk) edits_.push_back({piece.span.begin, piece.span.end, " "});
    }
    each_block(tree_.blocks, [&](const ast::Block& block) {
      if (older) return dotted_cloud(block);
      if (block.kind == ast::Kind::Input) type_of(*ast::as<ast::FeatureBlock>(&block));
      if (auto* deploy = ast::as<ast::Deploy>(&block); deploy && deploy->count) parentheses(*deploy->count);
      if (auto* configure = ast::as<ast::Configure>(&block)) resources(configure->resources);
      if (auto* use = ast::as<ast::Use>(&block)) empty(use->body);
    });
    for (const ast::Block* block : tree_.blocks)
      each_value(*block, [&](const ast::Expr& value) { this->value(value); });
    const size_t done = older ? end_of_head() : 0;
    std::string out;
    if (older) out.append("radl 2\n").append(text_.substr(0, done)).append("\n").append(declarations_);
    if (!declarations_.empty()) out += "\n";
    return out += rewritten(text_, std::move(edits_), done);
  }

 private:
  // `my.cloud` would be a value of `my`.
  void dotted_cloud(const ast::Block& block) {
    auto* deploy = ast::as<ast::Deploy>(&block);
    auto* cloud = deploy == nullptr ? nullptr : ast::as<ast::String>(deploy->cloud);
    if (cloud == nullptr || cloud->text.find('.') == std::string_view::npos) return;
    edits_.push_back({cloud->span.begin, cloud->span.end, "'" + std::string(cloud->text) + "'"});
  }

  // The comments that are the file's: those in its first lines, and what follows as far as a blank line ends
  // it. A comment that silences a warning stays before its line.
  uint32_t end_of_head() const {
    size_t head = 0;
    bool comments = false;  // since the last blank line
    for (size_t at = 0; at < text_.size();) {
      std::string_view line = text_.substr(at, text_.find('\n', at) - at);
      bool blank = is_blank(line), comment = line.starts_with('#');
      if (comments && (blank || (head == 0 && text_.substr(0, at).find("radl: allow ") == text_.npos))) {
        if (!comment) head = at;
      }
      if (!blank && !comment) break;
      comments = comment;
      at += std::min(line.size() + 1, text_.size() - at);
    }
    return static_cast<uint32_t>(head);
  }

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
      empty(resource->body);
      resources(resource->inner);
    }
  }
  void empty(const ast::Features& list) {
    Span body = list.span;
    bool nothing = list.present && list.items.empty() && body.size() >= 2 &&
                   is_blank(text_.substr(body.begin + 1, body.size() - 2));
    if (nothing) edits_.push_back({body.begin, body.end, ""});
  }

  void value(const ast::Expr& value) {
    if (auto* call = ast::as<ast::Call>(&value)) map(*call);
    if (auto* text = ast::as<ast::String>(&value)) lines(*text);
    if (auto* number = ast::as<ast::Number>(&value)) unit(*number);
    if (value.kind == ast::Kind::String) return;
    each_part(value, [this](const ast::Expr& part) { this->value(part); });
  }

  // 512m is a size in RADL 1, and minutes in `radl 2`.
  void unit(const ast::Number& number) {
    if (tree_.dialect == ast::Dialect::Radl1 && number.unit.text == "m")
      edits_.push_back({number.unit.span.begin, number.unit.span.end, "M"});
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
    const char* behind = may_follow_mark(text_.substr(text.span.end)) ? "" : "\n";
    edits_.push_back(
        {text.span.begin, text.span.end, "<<" + mark + "\n" + std::string(inner) + mark + behind});
  }
  // A block's smallest indentation is not part of it.
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
  std::string declarations_;
};

}  // namespace

Result<Upgraded> upgrade(const SourceFile& given, Diagnostics& diagnostics, const Options& options) {
  Upgraded made;
  made.before = separated_by_lines(given).value_or(std::string(given.text()));
  made.before = with_quoted_places(SourceFile(given.id(), given.path(), made.before));
  made.before = with_present_names(SourceFile(given.id(), given.path(), made.before));
  const SourceFile source(given.id(), given.path(), made.before);
  std::vector<Placeholder> placeholders;
  if (!begins_with_version(source.text())) {
    auto found = find_placeholders(source);
    if (!found.ok()) return std::move(found).status();
    placeholders = std::move(*found);
  }
  const SourceFile read(source.id(), source.path(), stand_in(source, placeholders));
  auto tree = parse(read, diagnostics, {.dialect = options.dialect});
  if (tree->syntax_errors) {
    for (const Diagnostic& finding : diagnostics.all())
      for (const Placeholder& each : placeholders)
        if (each.in == Placeholder::In::Value && finding.span.begin < each.end &&
            each.begin < finding.span.end)
          return invalid(source.path() + ": @input." + each.name +
                         "@ is where `radl 2` allows no value; the file was left unchanged");
    return invalid(source.path() + " has syntax errors and was left unchanged");
  }
  if (tree->dialect == ast::Dialect::Ec3 || tree->ec3_mark || !tree->ec3_uses.empty())
    return invalid(source.path() +
                   " is written in EC3's dialect, which `radl 2` has no form for; it was left alone");
  for (const Placeholder& each : placeholders)
    if (std::find(made.inputs.begin(), made.inputs.end(), each.name) == made.inputs.end())
      made.inputs.push_back(each.name);
  Diagnostics found;
  const SourceFile unquoted(source.id(), source.path(),
                            Upgrader(*tree, source.text(), as_inputs(placeholders, *tree)).run());
  const SourceFile upgraded(source.id(), source.path(), with_quoted_places(unquoted));
  Options plain = options;
  plain.dialect = DialectChoice::Auto;  // of RADL 1 only
  auto text = format(upgraded, found, plain);
  if (text.ok()) {
    made.text = std::move(*text);
    return made;
  }
  std::string why = found.all().empty() ? text.status().message() : found.all()[0].message;
  return invalid(source.path() + " cannot be written as `radl 2` and was left alone: " + why);
}

}  // namespace radl::formatter
