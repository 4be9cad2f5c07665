#include "common/html.h"

namespace radl {

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_markdown(std::string_view text) {
  // Markdown treats character references as text in any context, but not backslashes: "\|" does not end a
  // cell, but "\\|" does.
  constexpr std::string_view kMarkup = "\\`*_{}[]()#+-.!|~@:/=^$";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += ' ';
    } else if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'') {
      out += escape_html({&c, 1});
    } else if (kMarkup.find(c) != std::string_view::npos) {
      out += "&#" + std::to_string(byte) + ";";
    } else {
      out += c;
    }
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  // Inside of <code> references are read, and no character of it is markup any more.
  return "<code>" + escape_markdown(text) + "</code>";
}

}  // namespace radl
