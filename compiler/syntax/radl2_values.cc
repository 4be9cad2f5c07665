// Values of `radl 2`: expressions, references and strings with ${ }.
#include <algorithm>

#include "compiler/syntax/radl2_builder.h"

namespace radl {

ast::Expr* Radl2Builder::unary(Place place, ast::UnaryOp op, ast::Expr* operand) {
  if (too_long(place)) return operand;
  return node<ast::Unary>(place, op, operand);
}

ast::Expr* Radl2Builder::binary(Place place, ast::BinaryOp op, Place op_place, ast::Expr* left,
                                ast::Expr* right) {
  if (too_long(op_place)) return left;
  return node<ast::Binary>(place, op, at(op_place), left, right);
}

ast::Expr* Radl2Builder::if_else(Place place, ast::Expr* condition, ast::Expr* then_value,
                                 ast::Expr* else_value) {
  if (too_long(place)) return then_value;
  return node<ast::If>(place, condition, then_value, else_value);
}

// ---- references
// ---------------------------------------------------------------------------------------------

// a.b.c is one name for the scanner; here it becomes three parts.
void Radl2Builder::split_path(List<ast::PathPart>& parts, ast::Name name) {
  uint32_t at = 0;
  while (at <= name.text.size()) {
    size_t dot = name.text.find('.', at);
    uint32_t end = static_cast<uint32_t>(dot == std::string_view::npos ? name.text.size() : dot);
    Span span{name.span.file, name.span.begin + at, name.span.begin + end};
    if (end > at) parts.push(tree_.arena, {{name.text.substr(at, end - at), span}, nullptr, span});
    at = end + 1;
  }
}

ast::Expr* Radl2Builder::reference(Place place) {
  ast::Name name = word(place);
  std::string_view text = name.text;
  const bool yes = text == "yes" || text == "true";
  if (yes || text == "no" || text == "false") return node<ast::Boolean>(place, yes);
  auto* made = node<ast::Reference>(place);
  split_path(made->parts, name);
  if (made->parts.empty()) {
    syntax(DiagCode::UnexpectedToken, place, "`" + std::string(text) + "` names nothing");
    return error_value(place);
  }
  return made;
}

ast::Expr* Radl2Builder::member(Place place, ast::Expr* base, Place name) {
  if (base->kind != ast::Kind::Reference) return error_value(place);
  base->span = at(place);
  if (word(name).text.ends_with('.')) {
    syntax(DiagCode::UnexpectedToken, name, "`.` with no name behind it");
    return error_value(place);
  }
  split_path(static_cast<ast::Reference*>(base)->parts, word(name));
  return base;
}

ast::Expr* Radl2Builder::index(Place place, ast::Expr* base, ast::Expr* index, Place brackets) {
  if (base->kind != ast::Kind::Reference) return error_value(place);
  if (too_long(brackets)) return base;
  base->span = at(place);
  static_cast<ast::Reference*>(base)->parts.push(tree_.arena, {{}, index, at(brackets)});
  return base;
}

// ---- strings with ${ }
// ----------------------------------------------------------------------------------------

ast::String* Radl2Builder::text_parts() { return node<ast::String>(Place(0, 0)); }

ast::String* Radl2Builder::add_part(ast::String* text, ast::StringPart* part) {
  if (!part->value && !text->parts.empty() && !text->parts.back().value) {
    ast::StringPart& before = text->parts.back();
    std::string joined(before.text);
    joined += part->text;
    before.text = tree_.arena.copy(joined);
    before.span = cover(before.span, part->span);
    return text;
  }
  text->parts.push(tree_.arena, *part);
  return text;
}

ast::StringPart* Radl2Builder::interpolation(Place place, ast::Expr* value) {
  return tree_.arena.make<ast::StringPart>(std::string_view(), value ? value : error_value(place), at(place));
}

ast::Expr* Radl2Builder::finish_text(Place place, ast::String* text) {
  text->span = at(place);
  too_long(place);
  return text;
}

// ---- calls, lists, maps

ast::Expr* Radl2Builder::member_of(Place place, ast::Expr* base, Place name) {
  if (base->kind == ast::Kind::Reference) return member(place, base, name);
  if (base->kind == ast::Kind::ErrorValue) return base;
  ast::Name word = this->word(name);
  if (word.text.size() < 2 || word.text.ends_with('.')) {
    syntax(DiagCode::UnexpectedToken, name, "`.` with no name behind it");
    return error_value(place);
  }
  auto* select =
      base->kind == ast::Kind::Select ? static_cast<ast::Select*>(base) : node<ast::Select>(place, base);
  select->span = at(place);
  split_path(select->parts, word);
  return select;
}

ast::Expr* Radl2Builder::element_of(Place place, ast::Expr* base, ast::Expr* index, Place brackets) {
  if (base->kind == ast::Kind::Reference) return this->index(place, base, index, brackets);
  if (base->kind == ast::Kind::ErrorValue || too_long(brackets)) return base;
  auto* select =
      base->kind == ast::Kind::Select ? static_cast<ast::Select*>(base) : node<ast::Select>(place, base);
  select->span = at(place);
  select->parts.push(tree_.arena, {{}, index, at(brackets)});
  return select;
}

ast::Call* Radl2Builder::argument(ast::Call* call, ast::Expr* value) {
  if (!call) call = tree_.arena.make<ast::Call>();
  call->arguments.push(tree_.arena, value);
  return call;
}

ast::Call* Radl2Builder::named_argument(ast::Call* call, Place place, Place name, ast::Expr* value) {
  if (!call) call = tree_.arena.make<ast::Call>();
  call->named.push(tree_.arena, {word(name), nullptr, value, at(place)});
  return call;
}

ast::Expr* Radl2Builder::call_value(Place place, Place function, ast::Call* call) {
  if (!call) call = tree_.arena.make<ast::Call>();
  call->kind = ast::Kind::Call;
  call->span = at(place);
  call->function = word(function);
  return too_long(function) ? error_value(place) : call;
}

ast::Comprehension* Radl2Builder::comprehension(Place place, ast::Expr* value, const ast::Each& each,
                                                ast::Expr* condition) {
  const ast::Entry element{{}, nullptr, value, {}};
  return node<ast::Comprehension>(place, false, element, each, condition);
}

List<ast::Each*>* Radl2Builder::loop(List<ast::Each*>* loops, ast::Each* each) {
  if (!loops) loops = tree_.arena.make<List<ast::Each*>>();
  loops->push(tree_.arena, each);
  return loops;
}

ast::Expr* Radl2Builder::list_made(Place place, ast::Expr* value, List<ast::Each*>* loops,
                                   ast::Expr* condition) {
  ast::Expr* made = nullptr;
  for (uint32_t i = loops->size(); i > 0; --i) {
    const ast::Each& each = *(*loops)[i - 1];
    if (!made) {
      made = comprehension(place, value, each, condition);
      continue;
    }
    auto* joined = node<ast::Call>(place, ast::Name{"flatten", {}});  // implicit
    joined->arguments.push(tree_.arena, comprehension(place, made, each, nullptr));
    made = joined;
  }
  return made;
}

ast::Entry* Radl2Builder::entry(Place place, Place name, ast::Expr* key, ast::Expr* value) {
  return tree_.arena.make<ast::Entry>(key ? ast::Name{} : word(name), key, value, at(place));
}

ast::MapValue* Radl2Builder::map_entry(ast::MapValue* map, ast::Entry* entry) {
  if (!map) map = tree_.arena.make<ast::MapValue>();
  map->entries.push(tree_.arena, *entry);
  return map;
}

ast::Expr* Radl2Builder::map_value(Place place, ast::MapValue* map) {
  if (!map) map = tree_.arena.make<ast::MapValue>();
  map->kind = ast::Kind::MapValue;
  map->span = at(place);
  return map;
}

ast::Expr* Radl2Builder::map_made(Place place, ast::Entry* entry, ast::Each* each, ast::Expr* condition) {
  ast::Comprehension* made = comprehension(place, nullptr, *each, condition);
  made->makes_map = true;
  made->element = *entry;
  return made;
}

namespace {

// The least indentation of the lines of a block of text that hold more than spaces.
size_t indentation(std::string_view content) {
  size_t least = std::string_view::npos;
  while (!content.empty()) {
    size_t end = std::min(content.find('\n'), content.size() - 1);
    std::string_view line = content.substr(0, end + 1);
    size_t begin = line.find_first_not_of(" \t");
    if (begin != line.npos && line[begin] != '\n') least = std::min(least, begin);
    content.remove_prefix(end + 1);
  }
  return least == std::string_view::npos ? 0 : least;
}

// Takes it away at the beginning of each line; `fresh`: the text begins one.
std::string unindented(std::string_view text, size_t indent, bool fresh) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (fresh) {
      size_t end = at;
      while (end < text.size() && end - at < indent && (text[end] == ' ' || text[end] == '\t')) ++end;
      at = end;
    }
    size_t newline = text.find('\n', at);
    size_t end = newline == text.npos ? text.size() : newline + 1;
    out += text.substr(at, end - at);
    fresh = newline != text.npos;
    at = end;
  }
  return out;
}

}  // namespace

ast::Expr* Radl2Builder::text_value(Place place, Place begin, ast::String* text) {
  std::string_view mark = source_.text(at(begin));
  if (mark.starts_with("<<")) {
    uint32_t first = begin.end, last = place.end;
    std::string_view bytes = source_.text({source_.id(), first, last});
    size_t closing = bytes.rfind('\n');
    std::string_view content = closing == bytes.npos ? std::string_view() : bytes.substr(0, closing + 1);
    size_t indent = indentation(content);
    bool fresh = true;
    for (ast::StringPart& part : text->parts) {
      if (part.value == nullptr) {
        std::string made = unindented(part.text, indent, fresh);
        fresh = part.text.ends_with('\n');
        part.text = tree_.arena.copy(made);
      } else {
        fresh = false;
      }
    }
  }
  return template_value(place, text);
}

ast::Expr* Radl2Builder::template_value(Place place, ast::String* text) {
  bool plain =
      std::all_of(text->parts.begin(), text->parts.end(), [](const ast::StringPart& p) { return !p.value; });
  if (plain) {
    text->text = text->parts.empty() ? std::string_view() : text->parts[0].text;
    text->parts = {};
  }
  return finish_text(place, text);
}

}  // namespace radl
