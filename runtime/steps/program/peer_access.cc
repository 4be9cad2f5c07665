#include "runtime/steps/program/peer_access.h"

#include <fmt/format.h>

#include "common/shell_quote.h"
#include "runtime/net/login_line.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/authorized_keys.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/network.h"

namespace radl::program {
namespace {

constexpr int kLacksProgram = 44;

// In the place of ssh: the job's configuration, and the job's mark on what is started. Options stand before
// the host, as launchers write them; the letters are those of ssh(1) that take a value.
constexpr const char* kWrapper = R"sh(own=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd) || exit 255
PATH=$(printf %s "$PATH" | sed "s|^$own/bin:||")
count=$#
while getopts 46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w: option; do :; done
[ $OPTIND -lt "$count" ] || exec ssh -F "$own/config" "$@"
options=$((OPTIND - 1)) i=0 command=
for word do
  i=$((i + 1))
  [ $i -eq 1 ] && set --
  if [ $i -le $((options + 1)) ]; then set -- "$@" "$word"; else command="$command${command:+ }$word"; fi
done
command=$(printf %s "$command" | sed "s/'/'\\\\''/g")
exec ssh -F "$own/config" "$@" "$(for_login "RADL_TASK=\"\$HOME/@FOLDER@/remote:\"; export RADL_TASK; exec /bin/sh -c '$command'")"
)sh";

std::string text_of(const NodeHandle& node, const char* name, const std::string& otherwise = "") {
  auto found = node.attributes.find(name);
  return found != node.attributes.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

// As ssh takes it: IPv6 without brackets.
std::string bare(std::string address) {
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  return address;
}

}  // namespace

std::string PeerAccess::configuration(const std::string& folder) const {
  std::string text;
  for (const NodeHandle& node : nodes_) {
    const std::string address = bare(jobs::address_of(node));
    text += fmt::format("Host {}\n  HostName {}\n  HostKeyAlias {}\n  Port {}\n  User {}\n", address, address,
                        address, node.attributes.value("port", 22), text_of(node, "user", "root"));
  }
  return text + fmt::format(
                    "Host *\n  IdentityFile \"{0}/ssh/key\"\n  IdentitiesOnly yes\n"
                    "  UserKnownHostsFile \"{0}/ssh/known_hosts\"\n"
                    "  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n  BatchMode yes\n"
                    "  ForwardX11 no\n  ConnectTimeout 20\n  ServerAliveInterval 2\n  ServerAliveCountMax 3\n"
                    "  LogLevel ERROR\n",
                    folder);
}

std::string PeerAccess::known_hosts() const {
  std::string text;
  for (const NodeHandle& node : nodes_)
    text += bare(jobs::address_of(node)) + " " + text_of(node, "host_key") + "\n";
  return text;
}

Result<std::string> PeerAccess::make_key() {
  jobs::Member& chief = *members_[0];
  auto made = chief.exec(fmt::format(R"sh(cd {} || exit 1
for p in ssh ssh-keygen; do command -v $p > /dev/null 2>&1 || exit {}; done
rm -rf ssh && mkdir -m 700 ssh && mkdir ssh/bin &&
  ssh-keygen -q -t ed25519 -N '' -C radlc-{} -f ssh/key >&2 && cat ssh/key.pub)sh",
                                     shell_path(chief.folder()), kLacksProgram, job_));
  if (!made) return made.status();
  if (made->exit_status == kLacksProgram)
    return Status(Code::Unsupported, chief.address() + ": has no ssh, by which the program reaches its nodes")
        .with_hint("install the package openssh-client there");
  if (made->exit_status != 0) return std::move(ssh::command_failure(*made, "ssh-keygen")).at(chief.address());
  std::string key = made->out;
  while (!key.empty() && key.back() == '\n') key.pop_back();
  return key;
}

// `restrict`: no forwarding and no terminal, a command alone.
Status PeerAccess::admit(size_t node, const std::string& public_key) {
  auto done = members_[node]->exec(edit_authorized_keys(job_, "restrict " + public_key));
  if (!done) return done.status();
  if (done->exit_status == 0) return {};
  return std::move(ssh::command_failure(*done, "~/.ssh/authorized_keys")).at(members_[node]->address());
}

Status PeerAccess::open(const std::string& folder) {
  auto key = make_key();
  if (!key) return key.status();
  std::string wrapper = std::string("#!/bin/sh\n") + kForLogin + kWrapper;
  wrapper.replace(wrapper.find("@FOLDER@"), 8, ".radl/jobs/" + job_);
  const Stop& stop = context_.stop;
  Status done = members_[0]->put_bytes(configuration(folder), "ssh/config", stop, 0600);
  if (done.ok()) done = members_[0]->put_bytes(known_hosts(), "ssh/known_hosts", stop, 0600);
  if (done.ok()) done = members_[0]->put_bytes(wrapper, "ssh/bin/ssh", stop, 0700);
  if (!done.ok()) return std::move(done).at(members_[0]->address());
  return jobs::for_all(nodes_.size(), [&](size_t i) { return admit(i, *key); });
}

Status PeerAccess::close(const std::vector<bool>& lost) {
  return jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
    if (lost[i]) return {};
    Status ended = members_[i]->end_all();
    auto taken = members_[i]->exec(jobs::remove_key_script(job_) + "rm -rf " +
                                   shell_path(members_[i]->folder() + "/ssh"));
    if (!ended.ok()) return ended;
    if (!taken) return taken.status();
    return taken->exit_status == 0
               ? Status()
               : std::move(ssh::command_failure(*taken, "~/.ssh/authorized_keys")).at(members_[i]->address());
  });
}

}  // namespace radl::program
