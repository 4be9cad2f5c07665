#include "tools/lsp/value_types.h"

#include <algorithm>

#include "common/text.h"

namespace radl::lsp {
namespace {

using What = Holding::What;

bool is_name_character(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '_' || c == '-';
}

// Takes the next part of a path: a name, or what stands between brackets with them.
std::string_view take_part(std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  size_t end = 0;
  if (path.starts_with('[')) {
    int depth = 0;
    do {
      depth += path[end] == '[' ? 1 : path[end] == ']' ? -1 : 0;
    } while (++end < path.size() && depth > 0);
  } else {
    while (end < path.size() && is_name_character(path[end])) ++end;
  }
  std::string_view part = path.substr(0, end);
  path.remove_prefix(std::max<size_t>(end, path.empty() ? 0 : 1));
  return part;
}

class Finder {
 public:
  Finder(const Query& query, uint32_t at) : query_(query), at_(at) {}

  Holding find(std::string_view path) {
    path = trim(path);
    if (++depth_ > 10) return {};  // a `let` may name itself
    Holding holding = root(path);
    while (!path.empty() && holding.what != What::Unknown) holding = within(holding, take_part(path));
    --depth_;
    return holding;
  }

 private:
  Holding root(std::string_view& path) {
    const std::string_view first = take_part(path);
    if (first == "self") return {What::Node};
    if (first == "input" || first == "system") {
      const std::string_view name = take_part(path);
      if (first == "input") return input(name);
      return name.empty() ? Holding{} : Holding{What::System};
    }
    if (std::string_view list = loop(first); !list.empty()) return element(find(list));
    for (const Analysis* in : readings()) {
      if (in->symbols.find(Space::System, first)) return {What::System};
      const Definition* let = in->symbols.find(Space::Let, first);
      auto* block = let ? ast::as<ast::Let>(let->block) : nullptr;
      if (block && block->value && block->value->kind == ast::Kind::Reference)
        return find(in->source.text(block->value->span));
    }
    return {};
  }

  // Of this reading and of the last one without errors: what is being typed may hide definitions.
  std::vector<const Analysis*> readings() const {
    std::vector<const Analysis*> found = {query_.analysis.get()};
    if (query_.document.last_good) found.push_back(query_.document.last_good.get());
    return found;
  }

  Holding input(std::string_view name) const {
    for (const Analysis* in : readings()) {
      const Definition* found = in->symbols.find(Space::Input, name);
      auto* block = found ? ast::as<ast::FeatureBlock>(found->block) : nullptr;
      if (!block) continue;
      for (const ast::Feature* feature : block->body.items)
        if (feature->name.text == "type" && feature->value) return of_type(feature->value, in);
    }
    return {};
  }

  static Holding of_type(const ast::Expr* type, const Analysis* in) {
    if (auto* call = ast::as<ast::Call>(type);
        call && call->function.text == "optional" && !call->arguments.empty())
      return of_type(call->arguments[0], in);
    const std::string_view text = in->source.text(type->span);
    if (text == "system" || text == "systems" || text == "'system'" || text == "'systems'")
      return {What::System};
    return {What::Typed, type, in};
  }

  static Holding element(const Holding& list) {
    if (list.what == What::System || list.what == What::Node) return {What::Node};
    auto* call = ast::as<ast::Call>(list.type);
    const bool holds = call && (call->function.text == "list" || call->function.text == "map") &&
                       call->arguments.size() == 1;
    return holds ? of_type(call->arguments[0], list.in) : Holding{};
  }

  static Holding within(const Holding& outer, std::string_view part) {
    if (part.starts_with('[')) return element(outer);
    auto* call = ast::as<ast::Call>(outer.type);
    if (!call || call->function.text != "object") return {};
    for (const ast::Entry& entry : call->named)
      if (entry.name.text == part && entry.value) return of_type(entry.value, outer.in);
    return {};
  }

  // What the variable goes over: of the loop around the place, or of the nearest one that is written as one,
  // because an expression that is not finished has no loops. Empty when it is no variable.
  std::string_view loop(std::string_view name) const {
    const std::string_view text = query_.analysis->source.text();
    std::string_view found;
    size_t nearest = std::string_view::npos;
    for (size_t at = text.find(name); at != text.npos && !name.empty(); at = text.find(name, at + 1)) {
      if ((at > 0 && is_name_character(text[at - 1])) || !text.substr(at + name.size()).starts_with(" in "))
        continue;
      const std::string_view before = trim(text.substr(0, at));
      if (!before.ends_with("for") && !before.ends_with("each") && !before.ends_with(',')) continue;
      const size_t distance = at > at_ ? at - at_ : at_ - at;
      if (distance >= nearest) continue;
      nearest = distance;
      found = list_at(text.substr(at + name.size() + 4));
    }
    return found;
  }

  // The path that the text begins with.
  static std::string_view list_at(std::string_view text) {
    size_t end = 0;
    int depth = 0;
    while (end < text.size() &&
           (depth > 0 || is_name_character(text[end]) || text[end] == '.' || text[end] == '[')) {
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
      ++end;
    }
    return text.substr(0, end);
  }

  const Query& query_;
  uint32_t at_;
  int depth_ = 0;
};

}  // namespace

Holding holding_of(const Query& query, std::string_view path, uint32_t at) {
  return Finder(query, at).find(path);
}

std::vector<Field> fields_of(const Holding& holding) {
  auto* call = ast::as<ast::Call>(holding.type);
  std::vector<Field> fields;
  if (!call || call->function.text != "object") return fields;
  for (const ast::Entry& entry : call->named)
    fields.push_back({std::string(entry.name.text),
                      entry.value ? std::string(holding.in->source.text(entry.value->span)) : std::string()});
  return fields;
}

uint32_t path_begin(std::string_view text, uint32_t end) {
  uint32_t at = end;
  while (at > 0) {
    if (is_name_character(text[at - 1]) || text[at - 1] == '.') {
      --at;
    } else if (text[at - 1] == ']') {
      int depth = 0;
      uint32_t open = at;
      do {
        --open;
        depth += text[open] == ']' ? 1 : text[open] == '[' ? -1 : 0;
      } while (open > 0 && depth > 0 && text[open] != '\n');
      if (depth != 0) return at;
      at = open;
    } else {
      break;
    }
  }
  return at;
}

}  // namespace radl::lsp
