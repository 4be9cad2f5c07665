// The text of `outports`: items joined by commas, each [CIDR-]PORTS[/P][-PORTS[/P]].
#include "compiler/sema/check.h"

namespace radl::sema {
namespace {

struct Reader {
  std::string_view text;
  size_t at = 0;

  bool end() const { return at == text.size(); }
  bool take(char c) {
    if (end() || text[at] != c) return false;
    ++at;
    return true;
  }
  size_t digits(size_t most = 1000) {
    size_t count = 0;
    while (!end() && count < most && text[at] >= '0' && text[at] <= '9') ++at, ++count;
    return count;
  }
};

bool ports(Reader& reader) {
  if (reader.digits() == 0) return false;
  return !reader.take(':') || reader.digits() != 0;
}

// tcp, udp, icmp; empty when there is none; "?" for another word.
std::string_view protocol(Reader& reader) {
  if (!reader.take('/')) return {};
  for (std::string_view known : {"tcp", "udp", "icmp"})
    if (reader.text.substr(reader.at).starts_with(known)) {
      reader.at += known.size();
      return known;
    }
  return "?";
}

// Four groups of one to three digits with any character between, a slash, one or two digits, a dash. Digits
// may be what stands between, so lengths are tried.
bool cidr(std::string_view text, size_t group, size_t at, size_t& end) {
  for (size_t length = 3; length >= 1; --length) {
    size_t i = 0;
    while (i < length && at + i < text.size() && text[at + i] >= '0' && text[at + i] <= '9') ++i;
    if (i != length) continue;
    size_t next = at + length;
    if (group < 3) {
      if (next < text.size() && text[next] != '\n' && cidr(text, group + 1, next + 1, end)) return true;
      continue;
    }
    Reader mask{text, next};
    if (!mask.take('/') || mask.digits(2) == 0 || !mask.take('-')) continue;
    end = mask.at;
    return true;
  }
  return false;
}

std::string item_fault(std::string_view item) {
  if (item.empty()) return "an item is missing";
  if (item.find_first_of(" \t") != std::string_view::npos) return "`outports` has no blanks";
  if (item.ends_with('\n')) item.remove_suffix(1);
  auto read = [&](size_t from) -> std::string {
    Reader reader{item, from};
    if (!ports(reader)) return "a port is a number, or two with `:` between";
    std::string_view first = protocol(reader), second;
    if (first == "?") return "a protocol is tcp, udp or icmp";
    if (reader.take('-')) {
      if (!ports(reader)) return "behind `-` stands the port on the machine";
      second = protocol(reader);
      if (second == "?") return "a protocol is tcp, udp or icmp";
    }
    if (!reader.end()) return "`" + std::string(item) + "` is not a port";
    if (first.empty()) first = "tcp";
    if (!second.empty() && first != second)
      return "both sides need the same protocol, and the first is " + std::string(first);
    return {};
  };
  std::string fault = read(0);
  size_t behind = 0;
  if (!fault.empty() && cidr(item, 0, 0, behind)) return read(behind);
  return fault;
}

}  // namespace

std::optional<OutportsFault> outports_fault(std::string_view text, bool lenient) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item = text.substr(begin, end - begin);
    if (lenient) {
      while (item.starts_with(' ')) item.remove_prefix(1);
      while (item.ends_with(' ')) item.remove_suffix(1);
    }
    std::string fault = item_fault(item);
    if (!fault.empty()) return OutportsFault{begin, end, fault};
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace radl::sema
