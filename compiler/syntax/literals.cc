// Numbers, strings and recipes of a file as nodes of its tree.
#include "compiler/syntax/literals.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/unicode.h"

namespace radl {
namespace {

// In a string in single quotes: what most hold none of, seen in one pass.
bool means_something(char c) { return c == '\\' || c == '@' || c == '$'; }

struct Escaped {
  uint32_t value = 0;
  size_t last = 0;  // its last byte
};

// \xHH and \u{H...}, whose letter is at `at`; nullopt when they are not written so.
std::optional<Escaped> escaped_point(std::string_view text, size_t at) {
  const bool braces = text[at] == 'u';
  const size_t from = at + 1;
  if (braces && (from >= text.size() || text[from] != '{')) return std::nullopt;
  const size_t to = braces ? text.find('}', from) : std::min(from + 2, text.size());
  if (to == std::string_view::npos) return std::nullopt;
  if (braces ? to - from < 2 || to - from > 7 : to - from != 2) return std::nullopt;
  Escaped out{0, braces ? to : to - 1};
  const char *first = text.data() + from + (braces ? 1 : 0), *last = text.data() + to;
  const auto [end, error] = std::from_chars(first, last, out.value, 16);
  const bool surrogate = out.value >= 0xD800 && out.value <= 0xDFFF;
  if (error != std::errc() || end != last || out.value > 0x10FFFF || surrogate) return std::nullopt;
  if (!braces && out.value >= 0x80) return std::nullopt;
  return out;
}

}  // namespace

ast::Number* Literals::number(Span span, bool* fits) {
  auto* node = tree_.arena.make<ast::Number>(ast::Kind::Number, span);
  node->digits = ascii_digits(source_.text().substr(span.begin, span.size()));
  node->is_float = node->digits.find('.') != std::string_view::npos;
  *fits = node->digits.size() <= kMaxNumberDigits;
  if (!*fits) return node;
  const char *begin = node->digits.data(), *end = begin + node->digits.size();
  if (!node->is_float) node->big = std::from_chars(begin, end, node->integer).ec != std::errc();
  if (node->is_float || node->big)
    std::from_chars(begin, end, node->real);
  else
    node->real = static_cast<double>(node->integer);
  return node;
}

// Digits of other scripts count as 0 to 9, as in the reference.
std::string_view Literals::ascii_digits(std::string_view text) {
  auto high = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  if (std::none_of(text.begin(), text.end(), high)) return text;
  std::string out;
  while (!text.empty()) {
    CodePoint next = decode_utf8(text);
    out += next.value == '.' ? '.' : static_cast<char>('0' + digit_value(next.value));
    text.remove_prefix(next.length);
  }
  return tree_.arena.copy(out);
}

// \' becomes ', in radl 2 $${ becomes ${; everything else stays as written. Copies only when there is
// something.
std::string_view Literals::decode(std::string_view text) {
  bool quotes = text.find('\\') != std::string_view::npos;
  bool dollars = radl2() && text.find("$${") != std::string_view::npos;
  if (!quotes && !dollars) return text;
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '\'') out += '\\';
      out += text[++i];
    } else if (dollars && text.substr(i).starts_with("$${")) {
      out += "${";
      i += 2;
    } else {
      out += text[i];
    }
  }
  return tree_.arena.copy(out);
}

// $${ becomes ${; nothing else means anything in a block of text.
std::string_view Literals::decode_dollars(std::string_view text) {
  if (text.find("$${") == std::string_view::npos) return text;
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("$${")) ++i;
    out += text[i];
  }
  return tree_.arena.copy(out);
}

// \n \r \t \\ \" \' \$ \e \xHH and \u{H...}, as other languages have them.
std::string_view Literals::decode_escapes(Span span) {
  std::string_view text = source_.text(span);
  if (text.find_first_of("\\$") == std::string_view::npos) return text;
  std::string out;
  auto refuse = [&](size_t at, size_t length, const char* why) {
    tree_.syntax_errors = true;
    uint32_t begin = span.begin + static_cast<uint32_t>(at);
    diagnostics_.report(DiagCode::TextEscape, {span.file, begin, begin + static_cast<uint32_t>(length)}, why)
        .with_help(
            "escapes: \\n \\r \\t \\e \\\\ \\\" \\' \\$ \\xHH \\u{HHHH}; strings in single quotes have none");
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("$${")) {
      out += "${";
      i += 2;
      continue;
    }
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    size_t begin = i;
    switch (char c = text[++i]) {
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'e':
        out += '\x1b';
        break;
      case '\\':
      case '"':
      case '\'':
      case '$':
        out += c;
        break;
      case '\n':  // the line goes on: the indentation of the next one is left out
        while (i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\t')) ++i;
        break;
      case 'x':
      case 'u': {
        const std::optional<Escaped> point = escaped_point(text, i);
        if (!point) {
          refuse(begin, 2,
                 c == 'x' ? "`\\x` takes two hexadecimal digits, up to 7F"
                          : "`\\u` takes a code point: \\u{20AC}");
          break;
        }
        append_utf8(out, point->value);
        i = point->last;
        break;
      }
      default:
        refuse(begin, 2, "unknown escape sequence");
    }
  }
  return tree_.arena.copy(out);
}

std::string how_to_give_input(std::string_view name) {
  return "`radlc check`, `plan` and `apply` take it: `--input " + std::string(name) + "=value`";
}

// Warns about @input.NAME@, which stays as it is inside strings and recipes.
void Literals::unfilled_input(std::string_view text, uint32_t file, uint32_t offset) {
  constexpr std::string_view kMark = "@input.";
  size_t at = text.find(kMark);
  if (at == std::string_view::npos) return;
  size_t end = text.find_first_of("@\n", at + kMark.size());
  if (end == std::string_view::npos || text[end] != '@') return;
  std::string name(text.substr(at + 1, end - at - 1));
  uint32_t begin = offset + static_cast<uint32_t>(at);
  diagnostics_
      .report(DiagCode::InputInText, Span{file, begin, offset + static_cast<uint32_t>(end) + 1},
              "no value was given for " + name)
      .with_help(how_to_give_input(name.substr(6)));
}

ast::String* Literals::text(Span span, bool open_end) {
  std::string_view inner = source_.text().substr(span.begin + 1, span.size() - (open_end ? 1 : 2));
  auto* node = tree_.arena.make<ast::String>(ast::Kind::String, span, inner);
  if (std::none_of(inner.begin(), inner.end(), means_something)) return node;
  node->text = decode(inner);
  unfilled_input(inner, span.file, span.begin + 1);
  return node;
}

ast::String* Literals::escaped_text(Span span) {
  Span inner{span.file, span.begin + 1, span.end - 1};
  auto* node = tree_.arena.make<ast::String>(ast::Kind::String, span, decode_escapes(inner));
  unfilled_input(source_.text(inner), span.file, inner.begin);
  return node;
}

ast::Expr* Literals::random(Span span) {
  const int length = source_.text(span)[8] - '0';  // 'random(D)'
  return tree_.arena.make<ast::Random>(ast::Kind::Random, span, length);
}

ast::Recipe* Literals::recipe(Span span) {
  std::string_view body = source_.text(span).substr(6);
  if (body.ends_with("@end")) body.remove_suffix(4);
  auto* node = tree_.arena.make<ast::Recipe>(ast::Kind::Recipe, span, body);
  if (!radl2()) unfilled_input(body, span.file, span.begin + 6);
  if (body.find("ec3_") == std::string_view::npos) return node;
  for (std::string_view key : {"ec3_xpath", "ec3_jpath", "ec3_file", "ec3_prio", "ec3_append"})
    if (body.find(key) != std::string_view::npos) tree_.ec3_mark = true;
  return node;
}

ast::StringPart* Literals::text_part(Span span) {
  return tree_.arena.make<ast::StringPart>(decode(source_.text(span)), nullptr, span);
}

ast::StringPart* Literals::escaped_part(Span span) {
  return tree_.arena.make<ast::StringPart>(decode_escapes(span), nullptr, span);
}

ast::StringPart* Literals::block_part(Span span) {
  return tree_.arena.make<ast::StringPart>(decode_dollars(source_.text(span)), nullptr, span);
}

}  // namespace radl
