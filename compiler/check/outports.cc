// Items joined by commas, each [CIDR-]PORTS[/P][-PORTS[/P]].
#include "compiler/check/outports.h"

#include <algorithm>

#include "common/address_range.h"

namespace radl::sema {
namespace {

struct Ports {
  int first = 0, last = 0;
};

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
  bool port(int& value) {
    size_t begin = at;
    if (digits() == 0) return false;
    value = 0;
    for (size_t i = begin; i < at; ++i) value = std::min(value * 10 + (text[i] - '0'), kOutportsBeyond);
    return true;
  }
  bool ports(Ports& made) {
    if (!port(made.first)) return false;
    made.last = made.first;
    return !take(':') || port(made.last);
  }
};

// tcp, udp, icmp; empty if absent; "?" for another word.
std::string_view protocol(Reader& reader) {
  if (!reader.take('/')) return {};
  for (std::string_view known : {"tcp", "udp", "icmp"})
    if (reader.text.substr(reader.at).starts_with(known)) {
      reader.at += known.size();
      return known;
    }
  return "?";
}

// Four groups of one to three digits with any separator character, a slash, one or two digits, a dash. A
// separator may be a digit, so all lengths are tried.
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

// The part after the network, if there is one.
std::string read_ports(std::string_view item, size_t from, OutportsItem& made) {
  Reader reader{item, from};
  Ports remote, local;
  if (!reader.ports(remote)) return "a port is a number, or two with `:` between";
  local = remote;
  std::string_view first = protocol(reader), second;
  if (first == "?") return "a protocol is tcp, udp or icmp";
  if (reader.take('-')) {
    if (!reader.ports(local)) return "the port on the node must follow `-`";
    second = protocol(reader);
    if (second == "?") return "a protocol is tcp, udp or icmp";
    made.second_range = remote.first != remote.last || local.first != local.last;
  }
  std::string_view rest = item.substr(reader.at);
  if (rest.starts_with(';')) return "items are joined by commas, not by `;`";
  if (rest.starts_with("..")) return "a range is written with `:`, as in 8000:9000";
  if (!reader.end()) return "`" + std::string(item) + "` is not a port";
  if (first.empty()) first = "tcp";
  if (!second.empty() && first != second)
    return "both sides need the same protocol, and the first is " + std::string(first);
  made.protocol = first;
  made.remote = remote.first;
  made.remote_end = remote.last;
  bool range = remote.first != remote.last;
  made.local = range ? remote.first : local.first;
  made.local_end = range ? remote.last : local.first;
  return {};
}

std::string read_item(std::string_view item, OutportsItem& made) {
  if (item.empty()) return "an item is missing";
  if (item.find_first_of(" \t") != std::string_view::npos) return "`outports` has no spaces";
  if (item.ends_with('\n')) item.remove_suffix(1);
  std::string fault = read_ports(item, 0, made);
  size_t behind = 0;
  if (fault.empty() || !cidr(item, 0, 0, behind)) return fault;
  made.cidr = item.substr(0, behind - 1);
  return read_ports(item, behind, made);
}

// Calls `each(item, begin, end)` for the pieces between commas, until it returns false.
template <class Each>
void each_piece(std::string_view text, Each each) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    if (!each(begin, end)) return;
    begin = end + 1;
  }
}

std::string_view without_spaces(std::string_view item) {
  while (item.starts_with(' ')) item.remove_prefix(1);
  while (item.ends_with(' ')) item.remove_suffix(1);
  return item;
}

}  // namespace

std::optional<std::string> OutportsItem::source() const {
  return cidr.empty() ? "0.0.0.0/0" : address_range(cidr);
}

std::optional<OutportsFault> outports_fault(std::string_view text, bool lenient) {
  std::optional<OutportsFault> found;
  each_piece(text, [&](size_t begin, size_t end) {
    OutportsItem unused{begin, end, {}};
    std::string_view item = text.substr(begin, end - begin);
    std::string fault = read_item(lenient ? without_spaces(item) : item, unused);
    if (!fault.empty()) found = OutportsFault{begin, end, std::move(fault)};
    return !found;
  });
  return found;
}

std::vector<OutportsItem> outports_items(std::string_view text) {
  std::vector<OutportsItem> items;
  each_piece(text, [&](size_t begin, size_t end) {
    std::string_view item = without_spaces(text.substr(begin, end - begin));
    OutportsItem made;
    made.begin = begin + static_cast<size_t>(item.empty() ? 0 : item.data() - (text.data() + begin));
    made.end = made.begin + item.size();
    if (read_item(item, made).empty()) items.push_back(made);
    return true;
  });
  return items;
}

}  // namespace radl::sema
