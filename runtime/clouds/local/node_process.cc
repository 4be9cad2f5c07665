#include "runtime/clouds/local/node_process.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "common/files.h"
#include "common/process/detached.h"
#include "common/process/process.h"
#include "common/shorten.h"

namespace radl::local {
namespace {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

// A process that becomes another program shows no environment meanwhile; one that has shown none for so long
// has none.
constexpr std::chrono::milliseconds kBecoming{300};

struct Started {
  int pid = 0;
  unsigned long long start_time = 0;
  std::string boot;
};

Started load_started(const NodeDirectory& node) {
  auto text = read_file(node.path("run/process.json"), 4096);
  json j = text ? json::parse(*text, nullptr, false) : json();
  try {
    return {j.value("pid", 0), j.value("start_time", 0ULL), j.value("boot", "")};
  } catch (const json::exception&) {  // damaged: it names no process
    return {};
  }
}

bool same_process(const Started& started) {
  return started.pid > 0 && started.boot == boot_id() &&
         process_start_time(started.pid) == started.start_time;
}

// True when the server says its version within `patience_ms`. That something takes the connection is not
// enough: a proxy on the way may do so for everybody, and may never notice a server that begins to listen
// later.
bool answers(const Record& record, int patience_ms) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(record.port));
  inet_pton(AF_INET, record.host.c_str(), &address.sin_addr);
  bool greeted = false;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 || errno == EINPROGRESS) {
    pollfd wait{fd, POLLIN, 0};
    char greeting[4] = {};
    if (poll(&wait, 1, patience_ms) == 1)
      greeted = recv(fd, greeting, sizeof greeting, 0) == 4 && std::string_view(greeting, 4) == "SSH-";
  }
  close(fd);
  return greeted;
}

size_t size_of(const std::string& path) {
  std::error_code error;
  auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// True once the server's log, from `begin` on, reports that it listens. Connecting earlier to an address of a
// separate network costs a second, because the kernel retries the neighbor lookup only after that time.
bool listens(const std::string& log, size_t begin) {
  std::ifstream in(log);
  in.seekg(static_cast<std::streamoff>(begin));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return text.find("Server listening on") != std::string::npos;
}

std::string last_lines(const std::string& path) {
  auto text = read_file(path);
  if (!text) return "no log";
  std::string tail(end_of(*text, 600));
  while (tail.ends_with('\n')) tail.pop_back();
  std::replace(tail.begin(), tail.end(), '\n', '|');
  return tail;
}

struct ProcessTable {
  std::map<int, std::vector<int>> children;
  std::vector<int> all;
};

ProcessTable read_processes() {
  ProcessTable table;
  DIR* proc = opendir("/proc");
  if (!proc) return table;
  while (dirent* entry = readdir(proc)) {
    int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    auto stat = read_file(fmt::format("/proc/{}/stat", pid), 4096);
    if (!stat) continue;
    size_t after_name = stat->rfind(')');
    char state = 0;
    int parent = 0;
    if (after_name == std::string::npos ||
        sscanf(stat->c_str() + after_name + 1, " %c %d", &state, &parent) != 2)
      continue;
    if (state == 'Z' || state == 'X') continue;
    table.children[parent].push_back(pid);
    table.all.push_back(pid);
  }
  closedir(proc);
  return table;
}

enum class Mark { None, Ours, Hidden };

// The environment that every login gets, or the log that the server writes to. Hidden: it has none, as for a
// moment each has that is just becoming another program.
Mark mark_of(int pid, const std::string& mark, const std::string& log) {
  char target[4096];
  ssize_t n = readlink(fmt::format("/proc/{}/fd/2", pid).c_str(), target, sizeof target);
  if (n > 0 && std::string_view(target, static_cast<size_t>(n)) == log) return Mark::Ours;
  auto environment = read_file(fmt::format("/proc/{}/environ", pid), 1 << 22);
  if (!environment) return Mark::None;
  if (environment->empty()) {
    // A thread of the kernel has no program either.
    const bool is_program = readlink(fmt::format("/proc/{}/exe", pid).c_str(), target, sizeof target) > 0;
    return is_program ? Mark::Hidden : Mark::None;
  }
  size_t at = environment->find(mark);
  return at != std::string::npos && (at == 0 || (*environment)[at - 1] == '\0') ? Mark::Ours : Mark::None;
}

struct Found {
  std::vector<int> processes;  // roots first
  bool certain = true;         // false: one that began after the node cannot be judged at the moment
};

Found find_processes(const NodeDirectory& node) {
  const ProcessTable table = read_processes();
  const std::string mark = "RADL_NODE_DIRECTORY=" + node.path() + std::string(1, '\0');
  const Started started = load_started(node);
  Found found;
  std::vector<int> queue;
  if (same_process(started)) queue.push_back(started.pid);
  for (int pid : table.all) {
    if (pid == getpid()) continue;
    const Mark seen = mark_of(pid, mark, node.log());
    if (seen == Mark::Ours) queue.push_back(pid);
    if (seen == Mark::Hidden && process_start_time(pid) >= started.start_time) found.certain = false;
  }
  std::set<int> met;
  for (size_t i = 0; i < queue.size(); ++i) {
    if (queue[i] == getpid() || !met.insert(queue[i]).second) continue;
    found.processes.push_back(queue[i]);
    auto below = table.children.find(queue[i]);
    if (below != table.children.end()) queue.insert(queue.end(), below->second.begin(), below->second.end());
  }
  return found;
}

Status start_once(const NodeDirectory& node, const Record& record, const Environment& environment,
                  const Stop& stop) {
  // A server may answer before the first look at it: what was stopped by then is not begun.
  if (Status over = stop.check(); !over.ok()) return over;
  DetachOptions options;
  options.environment = {{"RADL_NODE_DIRECTORY", node.path()}, {"LC_ALL", "C.UTF-8"}};
  options.output_path = node.log();
  options.directory = "/";
  options.adopt_orphans = true;
  std::vector<std::string> argv{find_program(environment, "sshd"), "-D", "-e", "-f", node.config()};
  if (argv[0].empty())
    return Status(Code::Unsupported, "no OpenSSH server on this computer")
        .with_hint("install openssh-server");
  if (!record.network.empty())
    argv = {"/bin/sh", node.path("etc/join")};
  else if (record.isolated)
    argv = {"unshare",      "--mount", "--uts",
            "--ipc",        "--pid",   "--fork",
            "--kill-child", "/bin/sh", node.path("etc/boot")};
  if (geteuid() == 0 && !record.isolated)
    ::mkdir("/run/sshd", 0755);  // sshd insists on it; an init script makes it elsewhere
  options.before_start = [&](int pid) {
    json started{{"pid", pid}, {"start_time", process_start_time(pid)}, {"boot", boot_id()}};
    return write_file_atomic(node.path("run/process.json"), started.dump() + "\n", 0600);
  };
  const size_t logged = size_of(node.log());
  if (auto pid = start_detached(environment, argv, options); !pid) return pid.status();
  const auto quiet_until = SteadyClock::now() + std::chrono::seconds(2);  // a log that says less
  int patience_ms = 50;
  for (int pause_ms = 2;; pause_ms = std::min(pause_ms + 1, 20)) {
    if (listens(node.log(), logged) || SteadyClock::now() > quiet_until) {
      if (answers(record, patience_ms)) return {};
      patience_ms = std::min(patience_ms * 3 / 2, 1000);
    }
    if (!node_runs(node))
      return {Code::Retry, fmt::format("the node's SSH server ended at once: {}", last_lines(node.log()))};
    if (Status over = stop.check(); over.code() == Code::Timeout) {
      return {Code::Timeout,
              fmt::format("the node's SSH server does not answer: {}", last_lines(node.log()))};
    } else if (!over.ok()) {
      return over;
    }
    stop.sleep(std::chrono::milliseconds(pause_ms));
  }
}

}  // namespace

bool node_runs(const NodeDirectory& node) { return same_process(load_started(node)); }

Status start_node(const NodeDirectory& node, Record& record, const Context& context) {
  auto public_key = read_file(node.work() + "/id_ed25519.pub", 1 << 16);
  if (!public_key) return public_key.status();
  const Stop stop = context.stop.within(std::chrono::seconds(15));
  Status last;
  for (int attempt = 0; attempt < 5; ++attempt) {
    if (!record.network.empty()) {
      record.port = 22;  // the address is exclusive
    } else if (attempt > 0 || record.port == 0) {
      auto port = free_port(record.host);
      if (!port) return port.status();
      record.port = *port;
    }
    if (Status s = node.write_configuration(record, public_key->substr(0, public_key->find('\n')),
                                            context.environment);
        !s.ok())
      return s;
    if (Status s = node.save(record); !s.ok()) return s;
    last = start_once(node, record, context.environment, stop);
    if (last.ok()) return last;
    (void)end_processes(node);
    bool taken = last.message().find("in use") != std::string::npos ||
                 last.message().find("Cannot bind") != std::string::npos;
    if (!taken) return last;
    ::unlink(node.log().c_str());  // of the attempt that found the port taken
  }
  return last;
}

int inner_process(const NodeDirectory& node) {
  Started started = load_started(node);
  if (!same_process(started)) return 0;
  auto space = [](int pid, const char* kind) {
    char name[64];
    ssize_t n = readlink(fmt::format("/proc/{}/ns/{}", pid, kind).c_str(), name, sizeof name);
    return n > 0 ? std::string(name, static_cast<size_t>(n)) : std::string();
  };
  const std::string outer = space(started.pid, "pid"), here = space(getpid(), "mnt");
  ProcessTable table = read_processes();
  for (int child : table.children[started.pid]) {
    std::string inner = space(child, "pid"), view = space(child, "mnt");
    // Its way out is a child too, but lives on this computer: that one's files must never be taken for the
    // node's.
    if (!inner.empty() && inner != outer && !view.empty() && view != here) return child;
  }
  return 0;
}

std::vector<int> processes_of(const NodeDirectory& node) { return find_processes(node).processes; }

Status end_processes(const NodeDirectory& node) {
  const auto until = SteadyClock::now() + std::chrono::seconds(10);
  const Started started = load_started(node);
  // Since when none was found. One look is no proof: it takes a while, in which one may have begun another
  // and ended.
  std::optional<SteadyClock::time_point> none_since;
  for (;;) {
    const Found found = find_processes(node);
    const std::vector<int>& left = found.processes;
    const auto now = SteadyClock::now();
    if (left.empty() && none_since && (found.certain || now > *none_since + kBecoming)) return {};
    if (!left.empty())
      none_since.reset();
    else if (!none_since)
      none_since = now;
    // The server adopts whatever its descendants leave behind, so it goes last: until then nothing can slip
    // away.
    bool root_alone = left.size() == 1 || !same_process(started);
    for (auto pid = left.rbegin(); pid != left.rend(); ++pid) {
      if (*pid != started.pid || root_alone) kill(*pid, SIGKILL);
    }
    if (!left.empty() && now > until) {
      return {Code::Retry,
              fmt::format("processes {} of node {} do not end", fmt::join(left, ", "), node.id())};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(left.empty() && found.certain ? 0 : 2));
  }
}

}  // namespace radl::local
