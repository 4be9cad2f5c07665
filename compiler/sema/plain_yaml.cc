#include "compiler/sema/plain_yaml.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace radl::sema {
namespace {

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

// Length of a key with the `:` behind it; 0: the text begins with none. What could be read as another type of
// value
// (`<<`, `=`, a number) is none here.
size_t key_length(std::string_view text) {
  size_t at = 0;
  if (text.empty() || !letter(text[0])) return 0;
  while (at < text.size() && (letter(text[at]) || digit(text[at]) || text[at] == '.' || text[at] == '-'))
    ++at;
  bool ends = at + 1 == text.size() || (at + 1 < text.size() && text[at + 1] == ' ');
  return at < 128 && at < text.size() && text[at] == ':' && ends ? at + 1 : 0;
}

// Without spaces around it, on one line.
bool plain_scalar(std::string_view text) {
  if (text.empty()) return false;
  char first = text[0];
  if (first == '"' || first == '\'') {
    std::string_view inside = text.substr(1);
    size_t end = inside.find_first_of(first == '"' ? "\"\\" : "'");
    return end != inside.npos && inside[end] == first && end + 1 == inside.size();
  }
  if (!letter(first) && !digit(first) && first != '/' && first != '.') return false;
  // Dates have a check of their own, and so have `0x` and `...`.
  if (digit(first) && text.find_first_of("-xb") != text.npos) return false;
  if (first == '.' && text.starts_with("...")) return false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ':' && (at + 1 == text.size() || text[at + 1] == ' ')) return false;
    if (text[at] == '#' && text[at - 1] == ' ') return false;
  }
  return true;
}

// The collections that are open where a line begins, innermost last.
class Levels {
 public:
  enum class Kind : unsigned char { List, Map };

  // An element or entry at that column. `waits`: the line before was `key:`, whose value this may be.
  bool enter(size_t column, Kind kind, bool waits) {
    if (count_ == 0) return started_ ? false : push(column, kind);
    if (waits && column > top().column) return push(column, kind);
    if (waits && column == top().column && kind == Kind::List && top().kind == Kind::Map)
      return push(column, kind);  // a list may stand as far to the left as its key
    while (count_ > 0 && top().column > column) --count_;
    if (count_ > 1 && kind == Kind::Map && top().column == column && top().kind == Kind::List &&
        levels_[count_ - 2].column == column)
      --count_;
    return count_ > 0 && top().column == column && top().kind == kind;
  }
  bool push(size_t column, Kind kind) {
    started_ = true;
    if (count_ == levels_.size()) return false;
    levels_[count_++] = {column, kind};
    return true;
  }

 private:
  struct Level {
    size_t column;
    Kind kind;
  };
  const Level& top() const { return levels_[count_ - 1]; }

  std::array<Level, 32> levels_{};
  size_t count_ = 0;
  bool started_ = false;
};

}  // namespace

bool is_plain_yaml(std::string_view text) {
  auto odd = [](char c) { return (c < ' ' || c > '~') && c != '\n'; };
  if (std::any_of(text.begin(), text.end(), odd)) return false;
  Levels levels;
  bool waits = false, begun = false;
  while (!text.empty()) {
    size_t newline = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    while (line.ends_with(' ')) line.remove_suffix(1);
    size_t column = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(column);
    if (line.empty() || line[0] == '#') continue;
    if (!begun && column == 0 && line == "---") {
      begun = true;
      continue;
    }
    begun = true;
    bool nested = false;  // behind a `- ` of this line
    for (; line.starts_with("- "); nested = true, waits = false) {
      if (nested ? !levels.push(column, Levels::Kind::List)
                 : !levels.enter(column, Levels::Kind::List, waits))
        return false;
      size_t content = line.find_first_not_of(' ', 1);
      column += content;
      line.remove_prefix(content);
    }
    size_t key = key_length(line);
    if (key == 0) {
      if (!nested || !plain_scalar(line)) return false;
      continue;
    }
    if (nested ? !levels.push(column, Levels::Kind::Map) : !levels.enter(column, Levels::Kind::Map, waits))
      return false;
    line.remove_prefix(key);
    waits = line.empty();
    if (!waits && !plain_scalar(line.substr(line.find_first_not_of(' ')))) return false;
  }
  return begun;
}

}  // namespace radl::sema
