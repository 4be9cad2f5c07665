#include "common/ignore_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace radl {
namespace {

using Bytes = std::bitset<256>;

constexpr std::pair<std::string_view, int (*)(int)> kClasses[] = {
    {"alnum", std::isalnum}, {"alpha", std::isalpha}, {"blank", std::isblank}, {"cntrl", std::iscntrl},
    {"digit", std::isdigit}, {"graph", std::isgraph}, {"lower", std::islower}, {"print", std::isprint},
    {"punct", std::ispunct}, {"space", std::isspace}, {"upper", std::isupper}, {"xdigit", std::isxdigit}};

bool add_class(std::string_view name, Bytes& set) {
  for (const auto& [known, holds] : kClasses) {
    if (known != name) continue;
    for (int byte = 0; byte < 128; ++byte) {
      if (holds(byte)) set.set(static_cast<size_t>(byte));
    }
    return true;
  }
  return false;
}

size_t index(char byte) { return static_cast<unsigned char>(byte); }

Status wrong(std::string_view pattern, std::string_view why) {
  return invalid(fmt::format("the pattern '{}' {}", pattern, why));
}

// Trailing spaces count only after a backslash.
std::string_view without_last_spaces(std::string_view line) {
  size_t end = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const bool escape = line[at] == '\\';
    if (escape && ++at == line.size()) return line;
    if (escape || line[at] != ' ') end = at + 1;
  }
  return line.substr(0, end);
}

}  // namespace

std::vector<std::string> ignore_patterns_in(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> patterns;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = without_last_spaces(line);
    if (!line.empty()) patterns.emplace_back(line);
  }
  return patterns;
}

// [a-z], [!a-z] or [^a-z], [[:alpha:]_]. `at` points after the '[', then after the ']'.
Status IgnoreRules::parse_set(std::string_view pattern, size_t& at, Piece& piece) {
  auto next = [&]() -> int { return at < pattern.size() ? static_cast<unsigned char>(pattern[at++]) : -1; };
  const Status open = wrong(pattern, "has a '[' without its ']'");
  bool other = false;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) other = true, ++at;
  int before = -1;  // the byte that a range may begin with
  for (bool first = true;; first = false) {
    int byte = next();
    if (byte < 0) return open;
    if (byte == ']' && !first) break;
    const bool escaped = byte == '\\';
    if (escaped && (byte = next()) < 0) return open;
    if (byte == '[' && !escaped && at < pattern.size() && pattern[at] == ':') {
      const size_t end = pattern.find(']', at + 1);
      if (end == pattern.npos) return open;
      if (end > at + 1 && pattern[end - 1] == ':') {
        const std::string_view name = pattern.substr(at + 1, end - at - 2);
        if (!add_class(name, piece.set))
          return wrong(pattern, fmt::format("names a class [:{}:] that there is not", name));
        at = end + 1;
        before = -1;
        continue;
      }
    }
    if (byte == '-' && !escaped && before >= 0 && at < pattern.size() && pattern[at] != ']') {
      int last = next();
      if (last == '\\' && (last = next()) < 0) return open;
      for (int each = before; each <= last; ++each) piece.set.set(static_cast<size_t>(each));
      before = -1;
      continue;
    }
    piece.set.set(static_cast<size_t>(byte));
    before = byte;
  }
  if (other) piece.set.flip();
  piece.set.reset('/');
  return {};
}

Result<IgnoreRules::Rule> IgnoreRules::parse(std::string_view pattern) {
  using Kind = Piece::Kind;
  Rule rule;
  std::string_view rest = pattern;
  if (rest.starts_with('!')) rule.back = true, rest.remove_prefix(1);
  if (rest.ends_with('/')) rule.folders_only = true, rest.remove_suffix(1);
  rule.name_only = rest.find('/') == rest.npos;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty()) return wrong(pattern, "names nothing");
  for (size_t at = 0; at < rest.size();) {
    const char byte = rest[at++];
    if (byte == '\\') {
      if (at == rest.size()) return wrong(pattern, "ends in a '\\'");
      rule.pieces.push_back({Kind::Byte, rest[at++]});
    } else if (byte == '?') {
      rule.pieces.push_back({Kind::Any});
    } else if (byte == '[') {
      Piece piece{Kind::OneOf};
      if (Status set = parse_set(rest, at, piece); !set.ok()) return set;
      rule.pieces.push_back(piece);
    } else if (byte == '*') {
      const bool begins = at == 1 || rest[at - 2] == '/';
      const size_t first = at - 1;
      at = std::min(rest.find_first_not_of('*', at), rest.size());
      const bool ends = at == rest.size() || rest[at] == '/';
      if (at - first < 2 || !begins || !ends) {
        rule.pieces.push_back({Kind::Name});
      } else if (at == rest.size()) {
        rule.pieces.push_back({Kind::Path});
      } else {
        rule.pieces.push_back({Kind::Folders});
        ++at;
      }
    } else {
      rule.pieces.push_back({Kind::Byte, byte});
    }
  }
  return rule;
}

// Tracks all pattern positions that the text so far may have reached, in parallel: the time is at most the
// product of both lengths.
bool IgnoreRules::matches(const std::vector<Piece>& pieces, std::string_view text) {
  using Kind = Piece::Kind;
  std::vector<char> here(pieces.size() + 1), next(pieces.size() + 1);
  auto may_be_nothing = [&](size_t i) {
    return pieces[i].kind == Kind::Name || pieces[i].kind == Kind::Path || pieces[i].kind == Kind::Folders;
  };
  auto reach = [&](std::vector<char>& places, size_t i) {
    for (places[i] = 1; i < pieces.size() && may_be_nothing(i); ++i) places[i + 1] = 1;
  };
  reach(here, 0);
  for (const char byte : text) {
    std::fill(next.begin(), next.end(), 0);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!here[i]) continue;
      const Piece& piece = pieces[i];
      if (piece.kind == Kind::Folders) {
        next[i] = 1;  // but not past it: only a '/' leads there
        if (byte == '/') reach(next, i + 1);
      }
      if (piece.kind == Kind::Path || (piece.kind == Kind::Name && byte != '/')) reach(next, i);
      if ((piece.kind == Kind::Byte && piece.byte == byte) || (piece.kind == Kind::Any && byte != '/') ||
          (piece.kind == Kind::OneOf && piece.set[index(byte)]))
        reach(next, i + 1);
    }
    std::swap(here, next);
  }
  return here[pieces.size()];
}

Result<IgnoreRules> IgnoreRules::of(const std::vector<std::string>& patterns) {
  IgnoreRules rules;
  for (const std::string& pattern : patterns) {
    auto rule = parse(pattern);
    if (!rule) return rule.status();
    rules.rules_.push_back(std::move(*rule));
  }
  return rules;
}

bool IgnoreRules::leaves_out_within(std::string_view path, bool is_folder) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folders_only && !is_folder) continue;
    if (matches(rule->pieces, rule->name_only ? name : path)) return !rule->back;
  }
  return false;
}

bool IgnoreRules::leaves_out(std::string_view path, bool is_folder) const {
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    if (leaves_out_within(path.substr(0, slash), true)) return true;
  }
  return leaves_out_within(path, is_folder);
}

}  // namespace radl
