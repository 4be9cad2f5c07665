#include "compiler/syntax/allow.h"

#include "common/text.h"

namespace radl {
namespace {

constexpr std::string_view kMark = "radl: allow";

// By its rarest letter: a search for the word stops at every r.
size_t find_mark(std::string_view text, size_t from) {
  constexpr size_t kColon = 4;
  for (size_t at = text.find(':', from + kColon); at != text.npos; at = text.find(':', at + 1))
    if (text.substr(at - kColon, kMark.size()) == kMark) return at - kColon;
  return text.npos;
}

// From `line` on, the first line that is neither blank nor a comment.
int next_line_with_text(const SourceFile& source, int line) {
  while (line < source.line_count()) {
    std::string_view text = trim(source.line_text(line));
    if (!text.empty() && text[0] != '#') break;
    ++line;
  }
  return line;
}

Span whole_line(const SourceFile& source, int line) {
  uint32_t begin = source.line_begin(line);
  return {source.id(), begin, begin + static_cast<uint32_t>(source.line_text(line).size()) + 1};
}

}  // namespace

void find_allows(const SourceFile& source, Diagnostics& diagnostics) {
  std::string_view text = source.text();
  for (size_t at = find_mark(text, 0); at != text.npos; at = find_mark(text, at + 1)) {
    int line = source.line_of(static_cast<uint32_t>(at));
    uint32_t begin = source.line_begin(line);
    std::string_view before = text.substr(begin, at - begin);
    size_t hash = before.rfind('#');
    if (hash == std::string_view::npos || !trim(before.substr(hash + 1)).empty()) continue;
    std::string_view rest = source.line_text(line).substr(at - begin + kMark.size());
    Span where = whole_line(source, line);
    if (rest.starts_with("-file")) {
      where = source.whole();
      where.end += 1;
      rest.remove_prefix(5);
    } else if (trim(before.substr(0, hash)).empty()) {
      where = whole_line(source, next_line_with_text(source, line + 1));
    }
    for (std::string_view piece : split(rest, ',')) {
      std::string_view id = trim(piece);
      id = id.substr(0, id.find(' '));
      const CodeInfo* code = find_code(id);
      if (code && code->severity == Severity::Warning) {
        diagnostics.allow(code->code, where);
      } else {
        Span mark{source.id(), static_cast<uint32_t>(at), static_cast<uint32_t>(at + kMark.size())};
        diagnostics.report(DiagCode::UnknownAllow, mark,
                           code ? std::string(id) + " is an error and cannot be allowed"
                                : "there is no code `" + std::string(id) + "`");
      }
    }
  }
}

}  // namespace radl
