#include "runtime/clouds/local/isolation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>

#include "common/digest.h"
#include "common/files.h"
#include "common/process/detached.h"
#include "common/process/process.h"
#include "common/shell_quote.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/local/network.h"

namespace radl::local {
namespace {

namespace fs = std::filesystem;

// What a run that was killed has left. A work folder has one user at a time: the state is locked.
void remove_probes(const std::string& work_directory) {
  std::vector<fs::path> old;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(work_directory, error)) {
    if (entry.path().filename().string().starts_with("probe-")) old.push_back(entry.path());
  }
  for (const auto& path : old) fs::remove_all(path, error);
}

// In one run.
struct TriedOverlay {
  std::mutex mutex;
  std::optional<std::string> answer;
};

std::string try_overlay(const Context& context) {
  const std::string& work_directory = context.work_directory;
  if (geteuid() != 0) return "not root";
  // These stand for something in mount's options or in mountinfo.
  if (work_directory.find_first_of(",:\\\" \t\n") != std::string::npos)
    return "the name of the work folder has a character that overlay mounts do not support";
  for (const char* program : {"unshare", "mount", "pivot_root"}) {
    if (find_program(context.environment, program).empty())
      return fmt::format("no program '{}' (package util-linux)", program);
  }
  remove_probes(work_directory);
  std::string probe = work_directory + "/probe-" + to_hex(random_bytes(4));
  if (Status s = make_directories(probe, 0700); !s.ok()) return s.message();
  std::string script = fmt::format(
      "cd {} && mkdir u w r && mount -t overlay overlay -o lowerdir=/,upperdir=u,workdir=w r && "
      "mount -t proc proc r/proc && test -x r/bin/sh",
      shell_quote(probe));
  auto tried =
      run_process(context.environment,
                  {.argv = {"unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "sh", "-c", script},
                   .deadline = std::chrono::seconds(5),
                   .stop = context.stop});
  std::error_code ignored;
  fs::remove_all(probe, ignored);
  if (!tried) return tried.status().message();
  if (tried->exit_status == 0) return "";
  std::string why = tried->err.substr(0, tried->err.find('\n'));
  return why.empty() ? "the kernel refuses the namespaces" : why;
}

// Mount points of further real file systems, which an overlay of / does not show. mountinfo escapes spaces as
// \040.
std::vector<std::string> other_mounts() {
  static const std::set<std::string> kVirtual{
      "proc",      "sysfs",      "devtmpfs", "devpts",     "tmpfs",       "cgroup", "cgroup2",  "mqueue",
      "hugetlbfs", "debugfs",    "tracefs",  "securityfs", "pstore",      "bpf",    "configfs", "fusectl",
      "autofs",    "rpc_pipefs", "nsfs",     "efivarfs",   "binfmt_misc", "ramfs"};
  std::vector<std::string> found;
  auto text = read_file("/proc/self/mountinfo", 1 << 22);
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skip, point, word, type;
    words >> skip >> skip >> skip >> skip >> point;
    while (words >> word && word != "-") {
    }
    words >> type;
    bool under = false;
    for (const char* top : {"/proc", "/sys", "/dev", "/run", "/tmp"})
      under |= point == top || point.starts_with(std::string(top) + "/");
    if (point == "/" || under || kVirtual.count(type) || point.find('\\') != std::string::npos) continue;
    found.push_back(point);
  }
  return found;
}

// Everything above / is copied on write into view/upper; nothing of the real machine changes. What comes from
// outside stands in {variables}, each quoted where it is set (boot_variables), and is only used as "$NAME".
constexpr const char* kBoot = R"(#!/bin/sh
# Builds the node's view of the file system and becomes its server. Runs in namespaces of its own.
set -e
umask 022
{variables}R="$D/view/root"
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=/,upperdir=$D/view/upper,workdir=$D/view/work" "$R"
{other}{disks}mount -t proc proc "$R/proc"
{sys}mount --rbind /dev "$R/dev"
mount -t tmpfs -o mode=755 tmpfs "$R/run"
mkdir -p "$R/run/sshd" "$R/run/lock"
mount --bind "$D/view/tmp" "$R/tmp"
# Of the infrastructure's folder only this node's own is to be seen.
mkdir -p "$R$W"
mount -t tmpfs -o mode=755 tmpfs "$R$W"
mkdir -p "$R$D"
mount --bind "$D" "$R$D"
mount -t tmpfs -o mode=700 tmpfs "$R$D/view"
printf '%s\n' "$NAME" > /proc/sys/kernel/hostname
if [ ! -e "$D/view/made" ]; then
  printf '%s\n' "$NAME" > "$R/etc/hostname"
  awk -F: -v OFS=: -v home="$D/home" '$3 == 0 {{ $6 = home }} {{ print }}' /etc/passwd > "$R/etc/passwd"
  if [ -e /etc/resolv.conf ]; then
    {resolver} /etc/resolv.conf > "$R$D/view/resolv.conf" || true
    rm -f "$R/etc/resolv.conf"
    cat "$R$D/view/resolv.conf" > "$R/etc/resolv.conf"
  fi
  {{ awk -v name="$NAME" '$NF != name' /etc/hosts || true; printf '%s\n' "$HOSTS"; }} > "$R$D/view/hosts"
  cat "$R$D/view/hosts" > "$R/etc/hosts"
  : > "$D/view/made"
fi
cd "$R"
mkdir -p .radl-old
pivot_root . .radl-old
exec chroot . /bin/sh -c 'cd / && umount -l /.radl-old && rmdir /.radl-old && {auto_stop}exec "$@"' sh "$SSHD" -D -e -f "$D/etc/sshd_config"
)";

// Often enough for the shortest of its times.
double looks_every(const nlohmann::json& stop) {
  const AutoStop times = auto_stop_from_json(stop);
  double shortest = 240;
  for (double seconds : {times.after_seconds, times.idle_seconds})
    if (seconds > 0) shortest = std::min(shortest, seconds);
  return shortest / 4;
}

// What /sys shows of the network is that of the mounter.
constexpr const char* kOwnSys =
    "mount -t sysfs sysfs \"$R/sys\"\n"
    "if [ -d /sys/fs/cgroup ]; then mount --rbind /sys/fs/cgroup \"$R/sys/fs/cgroup\"; fi\n";

// The one place where anything enters the script.
std::string boot_variables(const NodeDirectory& node, const Record& record, const Environment& environment) {
  const std::string name = record.hostname.substr(0, record.hostname.find('.'));
  const std::string full = name == record.hostname ? "" : record.hostname + " ";
  std::string text;
  for (const auto& [variable, value] : {std::pair<const char*, std::string>{"D", node.path()},
                                        {"W", node.work()},
                                        {"NAME", name},
                                        {"HOSTS", record.host + " " + full + name},
                                        {"AUTO_STOP", node.path("etc/auto-stop")},
                                        {"SSHD", find_program(environment, "sshd")}})
    text += fmt::format("{}={}\n", variable, shell_quote(value));
  return text + "export AUTO_STOP\n";
}

// The program that turns this computer's resolv.conf into the node's: its nameservers may be on its loopback.
std::string resolver_filter(const Record& record) {
  if (record.network.empty()) return "cat";
  std::string server = record.egress ? fmt::format("print \"nameserver {}\"", kEgressNameserver) : "";
  return fmt::format("awk 'BEGIN {{ {} }} $1 != \"nameserver\" {{ print }}'", server);
}

// A data disk is a folder beside the view, seen at its mount path.
std::string disk_mounts(const Record& record) {
  std::string text;
  auto disks = record.spec.find("disks");
  if (disks == record.spec.end() || !disks->is_array()) return text;
  for (const auto& disk : *disks) {
    text +=
        fmt::format("mkdir -p \"$D\"/view/disk{0} \"$R\"{1}\nmount --bind \"$D\"/view/disk{0} \"$R\"{1}\n",
                    disk.value("index", 0), shell_quote(disk.value("mount_path", "")));
  }
  return text;
}

}  // namespace

std::string why_not_isolated(const Context& context) {
  TriedOverlay& tried = context.shared->of<TriedOverlay>();
  std::lock_guard lock(tried.mutex);
  if (tried.answer) return *tried.answer;
  std::string why = try_overlay(context);
  if (!context.stop.asked()) tried.answer = why;
  return why;
}

Status write_boot_script(const NodeDirectory& node, const Record& record, const Environment& environment) {
  for (const char* below : {"view/upper", "view/work", "view/root", "view/tmp"}) {
    if (Status s = make_directories(node.path(below), 0755); !s.ok()) return s;
  }
  std::error_code error;
  fs::permissions(node.path("view/tmp"), fs::perms::all | fs::perms::sticky_bit, error);
  std::string other;
  for (const auto& point : other_mounts()) {
    std::string to = "\"$R\"" + shell_quote(point);
    other += fmt::format("mount --bind {} {} && mount -o remount,bind,ro {} || true\n", shell_quote(point),
                         to, to);
  }
  std::string auto_stop;
  if (auto stop = record.spec.find("stop"); stop != record.spec.end()) {
    const std::string text = auto_stop_script(auto_stop_from_json(*stop), StopsBy::Init, looks_every(*stop));
    if (Status s = write_file_atomic(node.path("etc/auto-stop"), text, 0700); !s.ok()) return s;
    auto_stop = "(\"$AUTO_STOP\" > /dev/null 2>&1 < /dev/null &) && ";
  }
  std::string script =
      fmt::format(kBoot, fmt::arg("auto_stop", auto_stop),
                  fmt::arg("variables", boot_variables(node, record, environment)), fmt::arg("other", other),
                  fmt::arg("disks", disk_mounts(record)),
                  fmt::arg("sys", record.network.empty() ? "mount --rbind /sys \"$R/sys\"\n" : kOwnSys),
                  fmt::arg("resolver", resolver_filter(record)));
  return write_file_atomic(node.path("etc/boot"), script, 0700);
}

}  // namespace radl::local
