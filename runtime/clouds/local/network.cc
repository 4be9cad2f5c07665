#include "runtime/clouds/local/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/digest.h"
#include "common/files.h"
#include "common/process/detached.h"
#include "common/process/process.h"
#include "common/shell_quote.h"

namespace radl::local {
namespace {

using nlohmann::json;

constexpr uint32_t kMask = 0xfffffc00U;  // 22 bits: 1021 nodes; a bridge takes 1023

std::string record_path(const std::string& work_directory) { return work_directory + "/network.json"; }

// 15 bytes, as many as a link's name may have.
std::string network_name(const std::string& infrastructure) {
  return "radl-" + sha256_hex("network\n" + infrastructure).substr(0, 10);
}

// For a line of `ip -batch`.
std::string plain(std::string text) {
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
  }
  return text.substr(0, 200);
}

Status run_script(const Environment& environment, const std::string& script, const std::string& what,
                  const Stop& stop = {}) {
  auto ran = run_process(
      environment, {.argv = {"/bin/sh", "-c", script}, .deadline = std::chrono::seconds(20), .stop = stop});
  if (!ran) return std::move(ran).status().at(what);
  if (ran->exit_status == 0) return {};
  return {Code::Unsupported, fmt::format("{}: {}", what, ran->err.substr(0, ran->err.find('\n')))};
}

// In one run, by whether the network has a way out.
struct TriedNetwork {
  std::mutex mutex;
  std::map<bool, std::string> answers;
};

std::string try_network(Egress egress, const Context& context) {
  for (const char* program : {"ip", "unshare", "nsenter"}) {
    if (find_program(context.environment, program).empty())
      return fmt::format("no program '{}' (packages iproute2, util-linux)", program);
  }
  if (egress == Egress::Open) {
    if (find_program(context.environment, "slirp4netns").empty())
      return "no program 'slirp4netns' (package slirp4netns), which connects such nodes to the Internet";
    int tun = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (tun < 0) return "/dev/net/tun cannot be opened, which nodes need to reach the Internet";
    ::close(tun);
  }
  // In namespaces that go away with the script; a mount namespace, as /run/netns is a mount of its own.
  Status tried = run_script(
      context.environment,
      "exec unshare --net --mount /bin/sh -c 'set -e; mount -t tmpfs tmpfs /run; ip netns add probe; "
      "ip -n probe link add br0 type bridge; ip link add up0 type veth peer name up1 netns probe'",
      "the kernel refuses", context.stop);
  return tried.message();
}

struct Route {
  uint32_t destination = 0, mask = 0;
};

// The routes of the main table, in host order, without the default route.
std::vector<Route> routes() {
  std::vector<Route> all;
  auto text = read_file("/proc/net/route", 1 << 22);
  std::istringstream lines(text ? *text : "");
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    char device[64];
    unsigned destination = 0, mask = 0;
    if (std::sscanf(line.c_str(), "%63s %x %*x %*x %*d %*d %*d %x", device, &destination, &mask) != 3)
      continue;
    if (mask != 0) all.push_back({ntohl(destination), ntohl(mask)});
  }
  return all;
}

std::string dotted(uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

uint32_t number_of(const std::string& address) {
  in_addr raw{};
  inet_pton(AF_INET, address.c_str(), &raw);
  return ntohl(raw.s_addr);
}

// The same for the same infrastructure as long as the machine's routes leave it free.
Result<std::string> free_subnet(const std::string& infrastructure) {
  const std::vector<Route> taken = routes();
  // The nodes' way out has 10.0.2.0/24, so 10.0 is left alone.
  struct Range {
    uint32_t base, size;
  };
  static constexpr Range kRanges[] = {{0x0a010000U, 0x00fe0000U},
                                      {0xac100000U, 0x00100000U},
                                      {0xc0a80000U, 0x00010000U},
                                      {0xc6120000U, 0x00020000U}};
  for (const Range& range : kRanges) {
    for (int attempt = 0; attempt < 64; ++attempt) {
      std::string digest = sha256_hex(fmt::format("subnet\n{}\n{}", infrastructure, attempt));
      auto pick = static_cast<uint32_t>(std::stoul(digest.substr(0, 8), nullptr, 16));
      uint32_t subnet = (range.base + pick % range.size) & kMask;
      bool free = true;
      for (const Route& route : taken) {
        uint32_t both = route.mask & kMask;
        free &= (route.destination & both) != (subnet & both);
      }
      if (free) return dotted(subnet);
    }
  }
  return Status(Code::Unsupported,
                "this computer has routes to all private addresses, so nodes cannot have any");
}

// The namespace's file may be there without the namespace: a run was killed in between. What is there already
// is reported by the first batches and passed over (-force); the second ones must go well.
constexpr const char* kRaise = R"(set -e
n={name}
ip -n $n link set lo up 2>/dev/null || {{
  umount /run/netns/$n 2>/dev/null || true
  rm -f /run/netns/$n
  ip link delete $n 2>/dev/null || true
  ip netns add $n
}}
ip -force -batch - 2>/dev/null <<E || true
link add $n type veth peer name up0 netns $n
E
ip -force -n $n -batch - 2>/dev/null <<E || true
link add br0 type bridge
E
ip -batch - <<E
link set $n alias {alias}
address replace {host}/22 dev $n
link set $n up
E
ip -n $n -batch - <<E
link set lo up
link set br0 up
link set up0 master br0 up
E
)";

// `$0 joined` runs in the new namespace. Descriptor 9 is this computer's own: the way out starts from there.
constexpr const char* kJoin = R"(#!/bin/sh
# Gives the node a network of its own, then its view of the file system (etc/boot).
set -e
umask 022
D={directory}
n={name}
if [ "$1" != joined ]; then
  exec 9</proc/self/ns/net
  exec unshare --net /bin/sh "$0" joined
fi
ip -n $n link delete {port} 2>/dev/null || true
ip -batch - <<E
link set lo up
link add eth0 address {mac} type veth peer name {port} netns $n
address add {host}/22 dev eth0
link set eth0 up
E
ip -n $n link set {port} master br0 up
{egress}exec 9<&-
exec unshare --mount --uts --ipc --pid --fork --kill-child /bin/sh "$D/etc/boot"
)";

// Its way out lives outside of the node, and ends with the node's first process, however that ends.
constexpr const char* kEgress =
    R"sh(setpriv --pdeathsig KILL nsenter --net=/proc/self/fd/9 slirp4netns --configure --mtu=65520 \
  --disable-host-loopback --netns-type=path /proc/$$/ns/net tap0 > "$D/run/egress.log" 2>&1 &
i=0
until [ -n "$(ip route show default)" ]; do
  i=$((i + 1))
  [ $i -lt 500 ] || {{ echo "slirp4netns does not start: $(tail -n 1 "$D/run/egress.log")" >&2; exit 1; }}
  sleep 0.01
done
)sh";

// The same after a restart: this machine and the other nodes remember whom they have asked.
std::string hardware_address(const std::string& host) {
  uint32_t n = number_of(host);
  return fmt::format("02:72:{:02x}:{:02x}:{:02x}:{:02x}", n >> 24, n >> 16 & 255, n >> 8 & 255, n & 255);
}

}  // namespace

std::string why_no_network(Egress egress, const Context& context) {
  TriedNetwork& tried = context.shared->of<TriedNetwork>();
  std::lock_guard lock(tried.mutex);
  if (auto known = tried.answers.find(egress == Egress::Open); known != tried.answers.end())
    return known->second;
  std::string why = geteuid() != 0 ? "not root" : try_network(egress, context);
  if (!context.stop.asked()) tried.answers[egress == Egress::Open] = why;
  return why;
}

Result<std::optional<Network>> load_network(const std::string& work_directory) {
  auto text = read_file(record_path(work_directory), 1 << 16);
  if (!text) {
    if (text.status().code() == Code::NotFound) return std::optional<Network>();
    return text.status();
  }
  json j = json::parse(*text, nullptr, false);
  const Status damaged(Code::Corrupt, record_path(work_directory) + ": damaged, or of a newer version");
  try {
    if (j.value("version", 0) != 1) return damaged;
    return std::optional<Network>({j.value("name", ""), j.value("subnet", ""),
                                   j.value("egress", true) ? Egress::Open : Egress::Closed});
  } catch (const json::exception&) {
    return damaged;
  }
}

Status save_network(const std::string& work_directory, const Network& network) {
  json record{{"version", 1},
              {"name", network.name},
              {"subnet", network.subnet},
              {"egress", network.egress == Egress::Open}};
  return write_file_atomic(record_path(work_directory), record.dump(1) + "\n", 0600);
}

Result<Network> new_network(const std::string& infrastructure, Egress egress) {
  auto subnet = free_subnet(infrastructure);
  if (!subnet) return subnet.status();
  return Network{network_name(infrastructure), *subnet, egress};
}

Network network_of(const Record& record) {
  if (record.network.empty()) return {};
  return {record.network, dotted(number_of(record.host) & kMask),
          record.egress ? Egress::Open : Egress::Closed};
}

Status raise_network(const Network& network, const Context& context) {
  if (!network.own()) return {};
  return run_script(context.environment,
                    fmt::format(kRaise, fmt::arg("name", network.name),
                                fmt::arg("alias", "\"radlc " + plain(context.infrastructure) + "\""),
                                fmt::arg("host", dotted(number_of(network.subnet) + 1))),
                    "cannot create the network of the infrastructure's nodes");
}

Status remove_network(const Context& context) {
  const std::string& work_directory = context.work_directory;
  auto network = load_network(work_directory);
  // A record that cannot be read must not keep the namespace: its name is known without.
  std::string name = network ? (*network ? (*network)->name : "") : network_name(context.infrastructure);
  if (!name.empty()) {
    // TriedNetwork again: the last program of a run that was killed may just be mounting it.
    Status gone = run_script(context.environment,
                             fmt::format("n={}\nif [ -e /sys/class/net/$n ]; then ip link delete $n; fi\n"
                                         "i=0\n"
                                         "until umount /run/netns/$n 2>/dev/null; rm -f /run/netns/$n; do\n"
                                         "i=$((i + 1)); [ $i -lt 20 ] || break; sleep 0.1\ndone\n"
                                         "[ ! -e /run/netns/$n ] && [ ! -e /sys/class/net/$n ]",
                                         name),
                             "network " + name);
    if (!gone.ok()) return {Code::Retry, gone.message()};
  }
  if (::unlink(record_path(work_directory).c_str()) != 0 && errno != ENOENT)
    return errno_status(errno, record_path(work_directory));
  return {};
}

Result<std::string> network_address(const Network& network, const std::vector<std::string>& taken) {
  uint32_t subnet = number_of(network.subnet);
  for (uint32_t n = 2; n < ~kMask; ++n) {
    std::string address = dotted(subnet + n);
    if (std::find(taken.begin(), taken.end(), address) == taken.end()) return address;
  }
  return Status(Code::Quota, "all 1021 addresses of the infrastructure's network are taken");
}

Status write_join_script(const NodeDirectory& node, const Record& record) {
  std::string directory = shell_quote(node.path());
  std::string script =
      fmt::format(kJoin, fmt::arg("directory", directory), fmt::arg("name", record.network),
                  fmt::arg("port", fmt::format("v{}", number_of(record.host) & ~kMask)),
                  fmt::arg("host", record.host), fmt::arg("mac", hardware_address(record.host)),
                  fmt::arg("egress", record.egress ? fmt::format(kEgress) : ""));
  return write_file_atomic(node.path("etc/join"), script, 0700);
}

}  // namespace radl::local
