#include "runtime/cli/shown.h"

#include <algorithm>

#include "compiler/diag/shown_text.h"

namespace radl::cli {
namespace {

constexpr char kEscape = '\x1b';

// Length of the escape sequence at the start of `text` (ECMA-48): CSI up to its final byte, strings (OSC,
// DCS, APC, PM, SOS) up to their terminator, others two characters. An unterminated sequence ends with its
// line.
size_t sequence_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  const char kind = text[1];
  size_t line = std::min(text.find('\n'), text.size());
  if (kind == '[') {
    size_t at = 2;
    while (at < line && text[at] >= 0x20 && text[at] < 0x40) ++at;
    return at < line ? at + 1 : at;
  }
  if (std::string_view("]P_^X").find(kind) != std::string_view::npos) {
    for (size_t at = 2; at < line; ++at) {
      if (text[at] == '\a') return at + 1;
      if (text[at] == kEscape) return at + 1 < line && text[at + 1] == '\\' ? at + 2 : at;
    }
    return line;
  }
  return kind == '\n' ? 1 : 2;
}

bool sets_color(std::string_view sequence) {
  return sequence.size() >= 3 && sequence[1] == '[' && sequence.back() == 'm' &&
         sequence.substr(2, sequence.size() - 3).find_first_not_of("0123456789;:") == std::string_view::npos;
}

}  // namespace

std::string shown(std::string_view text, bool color) {
  std::string out;
  bool colored = false;
  while (!text.empty()) {
    size_t escape = std::min(text.find(kEscape), text.size());
    // A line end of another system is one line end.
    std::string_view plain = text.substr(0, escape);
    for (size_t at; (at = plain.find("\r\n")) != std::string_view::npos; plain.remove_prefix(at + 1))
      out += printable(plain.substr(0, at));
    out += printable(plain);
    text.remove_prefix(escape);
    if (text.empty()) break;
    size_t length = sequence_length(text);
    std::string_view sequence = text.substr(0, length);
    if (color && sets_color(sequence)) {
      out += sequence;
      colored = sequence != "\x1b[0m" && sequence != "\x1b[m";
    }
    text.remove_prefix(length);
  }
  if (colored) out.insert(out.ends_with('\n') ? out.size() - 1 : out.size(), "\x1b[0m");
  return out;
}

}  // namespace radl::cli
