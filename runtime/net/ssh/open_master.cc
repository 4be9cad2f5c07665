#include "runtime/net/ssh/open_master.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "common/files.h"
#include "common/process/process.h"
#include "common/text.h"
#include "runtime/net/ssh/mux.h"

namespace radl::ssh {
namespace {

constexpr size_t kLongestConfig = size_t{1} << 20;
constexpr std::chrono::seconds kLook{5};
constexpr const char* kSystemConfig = "/etc/ssh/ssh_config";

// Whether a file may give a ControlPath: the program that knows takes longer to start than this to read.
bool may_share(const std::string& path, bool follow_includes) {
  auto text = read_file(path, kLongestConfig);
  if (!text) return false;
  const std::string words = to_lower(*text);
  return words.find("controlpath") != std::string::npos ||
         (follow_includes && words.find("include") != std::string::npos);
}

bool may_share(const Environment& environment) {
  const std::string chosen = ssh_config_of_user(environment);
  if (!chosen.empty() && chosen != kSystemConfig && may_share(chosen, true)) return true;
  if (!environment("RADL_SSH_CONFIG").empty()) return false;  // `ssh -F` reads no other
  if (may_share(kSystemConfig, false)) return true;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(kSystemConfig) + ".d", none)) {
    if (may_share(entry.path().string(), true)) return true;
  }
  return false;
}

// As `ssh NAME` would have it for this target; empty: it shares no connection.
std::string control_path(const Target& target) {
  std::vector<std::string> argv{"ssh", "-G"};
  if (const std::string chosen = target.environment("RADL_SSH_CONFIG"); !chosen.empty())
    argv.insert(argv.end(), {"-F", chosen});
  argv.insert(argv.end(), {"-l", target.user, "-p", std::to_string(target.port), "--", target.ssh_name});
  auto ran = run_process(target.environment, {.argv = std::move(argv), .deadline = kLook});
  if (!ran || ran->exit_status != 0) return "";
  std::istringstream lines(ran->out);
  constexpr std::string_view kKeyword = "controlpath ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kKeyword) && line != "controlpath none") return line.substr(kKeyword.size());
  }
  return "";
}

// The kernel's names of a process's sockets.
std::set<std::string> sockets_of(int pid) {
  std::set<std::string> inodes;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), none)) {
    const std::string what = std::filesystem::read_symlink(entry.path(), none).string();
    if (what.starts_with("socket:[")) inodes.insert(what.substr(8, what.size() - 9));
  }
  return inodes;
}

// "0100007F:0016", as /proc/net/tcp and tcp6 write an address.
std::string kernel_name(const sockaddr* address) {
  std::string text;
  auto add_words = [&](const void* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      uint32_t word = 0;
      std::memcpy(&word, static_cast<const char*>(bytes) + 4 * i, sizeof word);
      text += fmt::format("{:08X}", word);
    }
  };
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    add_words(&v4->sin_addr, 1);
    return text + fmt::format(":{:04X}", ntohs(v4->sin_port));
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  add_words(&v6->sin6_addr, 4);
  return text + fmt::format(":{:04X}", ntohs(v6->sin6_port));
}

// By their table in /proc.
std::map<std::string, std::set<std::string>> kernel_names(const Target& target) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &list) != 0) return {};
  std::map<std::string, std::set<std::string>> names;
  for (addrinfo* one = list; one; one = one->ai_next)
    names[one->ai_family == AF_INET ? "tcp" : "tcp6"].insert(kernel_name(one->ai_addr));
  freeaddrinfo(list);
  return names;
}

// A socket's path does not show where its connection leads.
bool leads_to(int pid, const Target& target) {
  const std::set<std::string> own = sockets_of(pid);
  for (const auto& [table, wanted] : kernel_names(target)) {
    auto text = read_file(fmt::format("/proc/{}/net/{}", pid, table));
    std::istringstream lines(text ? *text : "");
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string skip, remote, inode;
      words >> skip >> skip >> remote >> skip >> skip >> skip >> skip >> skip >> skip >> inode;
      if (own.count(inode) && wanted.count(remote)) return true;
    }
  }
  return false;
}

}  // namespace

std::string open_master(const Target& target, const std::function<void(const std::string&)>& log) {
  if (target.ssh_name.empty() || !target.jump.empty() || !target.ssh_config.empty()) return "";
  if (!may_share(target.environment)) return "";
  const std::string path = control_path(target);
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return "";
  auto pid = mux_master(path, Stop().within(kLook));
  if (!pid) return "";
  if (leads_to(*pid, target)) return path;
  if (log)
    log(fmt::format("{}: the open connection {} is not used: it does not lead there", target.name(), path));
  return "";
}

}  // namespace radl::ssh
