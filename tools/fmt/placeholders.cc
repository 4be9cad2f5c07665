#include "tools/fmt/placeholders.h"

#include <algorithm>
#include <map>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/walk.h"

namespace radl::formatter {
namespace {

constexpr std::string_view kMark = "@input.";

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_word(char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

bool names_input(std::string_view text) {
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return in_word(c) && c != '.'; });
}

// The token that a place is in; Junk where the placeholder's own first byte is one.
Token token_at(const std::vector<Token>& tokens, uint32_t place) {
  auto behind = std::upper_bound(tokens.begin(), tokens.end(), place,
                                 [](uint32_t at, const Token& token) { return at < token.span.begin; });
  if (behind == tokens.begin() || std::prev(behind)->span.end <= place) return {TokenClass::Junk, {}};
  return *std::prev(behind);
}

// "integer", "size", ... for each input, by all the places that it stands at.
class Types {
 public:
  Types(const std::vector<Placeholder>& placeholders, const ast::Tree& tree) {
    for (const Placeholder& each : placeholders)
      note(each.name, each.in != Placeholder::In::Value ? "text" : each.unit.empty() ? "integer" : "number");
    each_block(tree.blocks, [&](const ast::Block& block) {
      if (auto* feature_block = ast::as<ast::FeatureBlock>(&block))
        features(feature_block->body, placeholders);
    });
  }
  const std::string& of(const std::string& name) const { return types_.at(name); }

 private:
  // Numbers also fit into texts; texts only into texts.
  void note(const std::string& name, const std::string& type) {
    auto [there, fresh] = types_.emplace(name, type);
    if (!fresh && (there->second == "text" || type == "size")) there->second = type;
  }
  void features(const ast::Features& list, const std::vector<Placeholder>& placeholders) {
    for (const ast::Feature* feature : list.items) {
      if (feature->group) features(*feature->group, placeholders);
      bool size = feature->value && feature->value->kind == ast::Kind::Number &&
                  (feature->name.text.ends_with(".size") || feature->name.text == "size");
      if (!size) continue;
      for (const Placeholder& each : placeholders)
        if (each.begin == feature->value->span.begin && each.unit.empty()) note(each.name, "size");
    }
  }

  std::map<std::string, std::string> types_;
};

}  // namespace

Result<std::vector<Placeholder>> find_placeholders(const SourceFile& source) {
  std::vector<Placeholder> found;
  std::string_view text = source.text();
  std::vector<Token> tokens = tokenize(source);
  for (size_t at = text.find(kMark); at != text.npos; at = text.find(kMark, at + 1)) {
    size_t close = text.find_first_of("@\n", at + kMark.size());
    if (close == text.npos || text[close] == '\n') continue;
    Placeholder made;
    made.begin = static_cast<uint32_t>(at);
    made.end = static_cast<uint32_t>(close + 1);
    made.name = text.substr(at + kMark.size(), close - at - kMark.size());
    Token token = token_at(tokens, made.begin);
    if (token.cls == TokenClass::Comment) continue;
    auto wrong = [&](const std::string& why) {
      return invalid(source.path() + ":" + std::to_string(source.line_of(made.begin)) + ": " +
                     std::string(text.substr(at, close + 1 - at)) + " " + why + "; the file was left alone");
    };
    if (!names_input(made.name)) return wrong("has no name that an input of `radl 2` can have");
    if (token.cls == TokenClass::String) {
      made.in = Placeholder::In::Text;
      made.whole = token.span.begin + 1 == made.begin && token.span.end == made.end + 1;
    } else if (token.cls == TokenClass::Recipe) {
      made.in = Placeholder::In::Recipe;
    } else {
      made.in = Placeholder::In::Value;
      size_t end = made.end;
      while (end < text.size() && letter(text[end])) ++end;
      made.unit = text.substr(made.end, end - made.end);
      if ((at > 0 && in_word(text[at - 1])) ||
          (end < text.size() && (in_word(text[end]) || text[end] == '@')))
        return wrong("is a part of a word, which `radl 2` has no form for");
      made.end = static_cast<uint32_t>(end);
    }
    found.push_back(std::move(made));
  }
  return found;
}

std::string stand_in(const SourceFile& source, const std::vector<Placeholder>& placeholders) {
  std::string text(source.text());
  for (const Placeholder& each : placeholders) {
    size_t length = each.end - each.begin;
    std::string with(length, 'x');
    if (each.in == Placeholder::In::Value)
      with = "1" + std::string(length - each.unit.size() - 1, ' ') + each.unit;
    text.replace(each.begin, length, with);
  }
  return text;
}

Inputs as_inputs(const std::vector<Placeholder>& placeholders, const ast::Tree& tree) {
  Inputs made;
  Types types(placeholders, tree);
  std::vector<std::string> declared;
  for (const Placeholder& each : placeholders) {
    const std::string& type = types.of(each.name);
    std::string input = "input." + each.name;
    if (each.in == Placeholder::In::Text) {
      if (each.whole && type == "text")
        made.edits.push_back({each.begin - 1, each.end + 1, input});  // without its quotes
      else
        made.edits.push_back({each.begin, each.end, "${" + input + "}"});
    } else if (each.in == Placeholder::In::Value) {
      // 512m is a size in RADL 1, and minutes in `radl 2`.
      const std::string unit(each.unit == "m" ? "M" : each.unit);
      made.edits.push_back({each.begin, each.end, unit.empty() ? input : input + " * 1" + unit});
    }
    if (std::find(declared.begin(), declared.end(), each.name) != declared.end()) continue;
    declared.push_back(each.name);
    made.declarations += "input " + each.name + " (type = " + type + ")\n";
  }
  return made;
}

}  // namespace radl::formatter
