#include "common/checksum_line.h"

namespace radl {
namespace {

constexpr size_t kDigits = 64;  // of SHA-256

std::string escaped(std::string_view name) {
  std::string text;
  for (char c : name) {
    if (c == '\\')
      text += "\\\\";
    else if (c == '\n')
      text += "\\n";
    else if (c == '\r')
      text += "\\r";
    else
      text += c;
  }
  return text;
}

std::optional<std::string> without_escapes(std::string_view text) {
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case '\\':
        name += '\\';
        break;
      case 'n':
        name += '\n';
        break;
      case 'r':
        name += '\r';
        break;
      default:
        return std::nullopt;
    }
  }
  return name;
}

}  // namespace

std::string checksum_line(std::string_view digest, std::string_view name) {
  const std::string text = escaped(name);
  return std::string(text.size() == name.size() ? "" : "\\").append(digest).append("  ").append(text);
}

std::optional<ChecksumLine> read_checksum_line(std::string_view line) {
  const bool has_escapes = line.starts_with('\\');
  if (has_escapes) line.remove_prefix(1);
  if (line.size() < kDigits + 3 || line.find_first_not_of("0123456789abcdef") != kDigits) return std::nullopt;
  if (line[kDigits] != ' ' || (line[kDigits + 1] != ' ' && line[kDigits + 1] != '*')) return std::nullopt;
  const std::string_view name = line.substr(kDigits + 2);
  std::optional<std::string> plain = has_escapes ? without_escapes(name) : std::string(name);
  if (!plain) return std::nullopt;
  return ChecksumLine{std::string(line.substr(0, kDigits)), *std::move(plain)};
}

}  // namespace radl
