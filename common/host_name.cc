#include "common/host_name.h"

namespace radl {
namespace {

constexpr size_t kLongestLabel = 63, kLongestName = 253;
constexpr std::string_view kNumber = "#N#";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Bytes of the character that begins at `at`, so that a message marks all of one beyond ASCII.
size_t end_of_character(std::string_view text, size_t at) {
  do ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

std::string named(std::string_view character) {
  unsigned char c = static_cast<unsigned char>(character[0]);
  if (c == '\n') return "a line end";
  if (c == ' ') return "a space";
  if (c < 32 || c == 127) return "a control character";
  return "`" + std::string(character) + "`";
}

}  // namespace

std::optional<HostNameFault> host_name_fault(std::string_view name, bool pattern) {
  size_t label = 0, length = 0;  // where the label begins, its length with a digit for each #N#
  auto ended = [&](size_t at) -> std::optional<HostNameFault> {
    if (at == label)
      return HostNameFault{at, at + 1, name.empty() ? "a host name is not empty" : "a part of it is empty"};
    if (name[label] == '-') return HostNameFault{label, label + 1, "no part of it begins with `-`"};
    if (name[at - 1] == '-') return HostNameFault{at - 1, at, "no part of it ends with `-`"};
    if (length > kLongestLabel)
      return HostNameFault{label, at, "each of its parts has at most 63 characters"};
    return std::nullopt;
  };
  for (size_t at = 0; at < name.size();) {
    if (name[at] == '.') {
      if (auto fault = ended(at)) return fault;
      label = ++at;
      length = 0;
    } else if (pattern && name.substr(at).starts_with(kNumber)) {
      at += kNumber.size();
      ++length;
    } else if (is_letter_or_digit(name[at]) || name[at] == '-') {
      ++at;
      ++length;
    } else {
      size_t end = end_of_character(name, at);
      return HostNameFault{at, end, named(name.substr(at, end - at)) + " cannot stand in it"};
    }
  }
  if (auto fault = ended(name.size())) return fault;
  if (name.size() > kLongestName) return HostNameFault{0, name.size(), "it has at most 253 characters"};
  return std::nullopt;
}

}  // namespace radl
