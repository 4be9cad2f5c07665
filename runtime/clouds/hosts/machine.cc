#include "runtime/clouds/hosts/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <vector>

namespace radl::hosts {
namespace {

constexpr std::string_view kScheme = "ssh://";

bool is_word(std::string_view text, std::string_view also) {
  if (text.empty() || text.front() == '-') return false;
  return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) || also.find(static_cast<char>(c)) != also.npos;
  });
}

std::vector<std::string> machines_of(const ir::Node& node) {
  std::vector<std::string> found;
  for (const ir::Disk& disk : node.disks) {
    if (disk.index != 0) continue;
    for (const std::string& url : disk.image_urls) {
      if (url.starts_with(kScheme)) found.push_back(url);
    }
  }
  return found;
}

}  // namespace

std::string Machine::text() const { return std::string(kScheme) + (user.empty() ? "" : user + "@") + name(); }

std::string Machine::name() const {
  if (port == 0) return host;
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string Machine::ssh_words() const {
  return (port == 0 ? "" : fmt::format("-p {} ", port)) + (user.empty() ? "" : user + "@") + host;
}

Result<Machine> parse_machine(const std::string& text) {
  const Status wrong = invalid(fmt::format("'{}' names no machine: write ssh://[USER@]NAME[:PORT]", text));
  std::string_view rest = text;
  if (!rest.starts_with(kScheme)) return wrong;
  rest.remove_prefix(kScheme.size());
  Machine machine;
  if (size_t at = rest.rfind('@'); at != rest.npos) {
    machine.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    if (!is_word(machine.user, "._-")) return wrong;
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  size_t end = rest.starts_with('[') ? rest.find(']') : std::min(rest.find(':'), rest.size());
  if (end == rest.npos) return wrong;
  const bool bracketed = rest.starts_with('[');
  machine.host = rest.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
  rest.remove_prefix(bracketed ? end + 1 : end);
  if (!is_word(machine.host, bracketed ? ".:%" : "._-")) return wrong;
  if (rest.empty()) return machine;
  const char* last = rest.data() + rest.size();
  auto [at, error] = std::from_chars(rest.data() + 1, last, machine.port);
  if (rest.front() != ':' || error != std::errc() || at != last || machine.port < 1 || machine.port > 65535)
    return wrong;
  return machine;
}

bool names_a_machine(const ir::Node& node) { return !machines_of(node).empty(); }

Result<Machine> machine_of(const ir::Node& node) {
  std::vector<std::string> urls = machines_of(node);
  const std::string ip = node.interfaces.empty() ? "" : node.interfaces.front().fixed_ip;
  if (urls.empty() && ip.empty()) {
    return invalid(
        "cloud hosts needs to know which machine it is: disk.0.image.url = 'ssh://NAME', or a list of them");
  }
  if (urls.empty()) urls.push_back(std::string(kScheme) + (ip.find(':') == ip.npos ? ip : "[" + ip + "]"));
  const auto ordinal = static_cast<size_t>(node.ordinal);
  if (ordinal >= urls.size()) {
    return invalid(
        fmt::format("{} names {} {}, but this is node {} of the system: name one for each node",
                    ip.empty() || names_a_machine(node) ? "disk.0.image.url" : "net_interface.0.ip",
                    urls.size(), urls.size() == 1 ? "machine" : "machines", ordinal + 1));
  }
  auto machine = parse_machine(urls[ordinal]);
  if (!machine) return machine.status();
  if (node.user.empty() || node.user == machine->user) return machine;
  if (!machine->user.empty()) {
    return invalid(fmt::format("disk.0.os.credentials.username = '{}', and disk.0.image.url names user '{}'",
                               node.user, machine->user));
  }
  machine->user = node.user;
  if (!is_word(machine->user, "._-"))
    return invalid(fmt::format("disk.0.os.credentials.username = '{}' is not a login name", node.user));
  return machine;
}

}  // namespace radl::hosts
