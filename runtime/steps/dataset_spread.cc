#include "runtime/steps/dataset_spread.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/authorized_keys.h"

namespace radl {
namespace {

constexpr int kLacksSsh = 44;
constexpr std::chrono::milliseconds kGlance{
    50};  // interval of checks for a stop, while another node is served

std::string text_of(const NodeHandle& node, const char* name, const std::string& otherwise = "") {
  auto found = node.attributes.find(name);
  return found != node.attributes.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

Result<std::string> on_node(const NodeHandle& node, const std::string& script, const Stop& stop) {
  auto remote = node.connect();
  if (!remote) return remote.status();
  ExecOptions options;
  options.deadline = std::chrono::hours(2);
  options.stop = stop;
  auto ran = (*remote)->exec(script, options);
  if (!ran) return ran.status();
  if (ran->exit_status == kLacksSsh)
    return Status(Code::Unsupported, node.address + " has no ssh").with_hint("install openssh-client there");
  if (ran->exit_status != 0) return ssh::command_failure(*ran, node.address);
  return ran->out;
}

Status put(const NodeHandle& node, const std::string& text, const std::string& path, const Stop& stop) {
  auto remote = node.connect();
  return remote ? (*remote)->put_bytes(text, path, 0600, stop).status() : remote.status();
}

// One fetch: what it leaves on both nodes carries its mark, and is removed at its end.
class Fetch {
 public:
  Fetch(const NodeHandle& taker, const NodeHandle& giver, const Fetched& what, const Context& context)
      : taker_(taker),
        giver_(giver),
        what_(what),
        context_(context),
        run_("spread-" + sha256_hex(context.run).substr(0, 8) + "-"),
        mark_(run_ + to_hex(random_bytes(8))),
        files_("~/.radl/stage/" + mark_) {}

  Status run() {
    Status done = admit();
    if (done.ok()) done = fetch();
    // Also after a stop: a key that is good for anything is not left.
    const Stop tidying = Stop().within(std::chrono::seconds(30));
    auto forgotten =
        on_node(giver_, edit_authorized_keys(mark_, "") + "rm -f " + shell_path(files_) + ".*\n", tidying);
    auto removed = on_node(taker_, "rm -rf " + shell_path(files_) + "\n", tidying);
    if (!done.ok()) return done;
    return forgotten ? removed.status() : forgotten.status();
  }

 private:
  // Shell text: removes what fetches of earlier runs left that were killed. One run at a time works on a
  // node.
  std::string tidy() const {
    return fmt::format(
        "for f in ~/.radl/stage/spread-*; do\ncase $f in */{}*) ;; *) rm -rf \"$f\" ;; esac\ndone\n", run_);
  }
  std::string command() const { return "sh .radl/stage/" + mark_ + ".sh"; }

  // The giver knows the taker's key, for this command alone.
  Status admit() {
    auto key = on_node(
        taker_,
        tidy() +
            fmt::format("set -e\numask 077\nfor p in ssh ssh-keygen; do command -v $p > /dev/null 2>&1 || "
                        "exit {0}; done\nmkdir -p ~/.radl/stage {1}\nrm -f {1}/key\n"
                        "ssh-keygen -q -t ed25519 -N '' -C radlc-{2} -f {1}/key >&2\ncat {1}/key.pub\n",
                        kLacksSsh, shell_path(files_), mark_),
        context_.stop);
    if (!key) return key.status();
    while (!key->empty() && key->back() == '\n') key->pop_back();
    if (auto made = on_node(giver_, tidy() + "mkdir -p -m 700 ~/.radl/stage\n", context_.stop); !made)
      return made.status();
    std::string names;
    for (const std::string& name : names_of(what_.list)) names += name + '\0';
    if (Status s = put(giver_, names, files_ + ".names", context_.stop); !s.ok()) return s;
    const std::string script = fmt::format("exec tar -C {} --null --no-recursion -T {}.names -cf -\n",
                                           shell_path(what_.directory), shell_path(files_));
    if (Status s = put(giver_, script, files_ + ".sh", context_.stop); !s.ok()) return s;
    const std::string stale = fmt::format("/ radlc-spread-/{{/ radlc-{}/!d;}}", run_);
    return on_node(
               giver_,
               edit_authorized_keys(mark_, fmt::format("restrict,command=\"{}\" {}", command(), *key), stale),
               context_.stop)
        .status();
  }

  Status fetch() {
    const std::string host = text_of(giver_, "private_ip", text_of(giver_, "host"));
    if (Status s = put(taker_, mark_ + " " + text_of(giver_, "host_key") + "\n", files_ + "/known_hosts",
                       context_.stop);
        !s.ok())
      return s;
    if (Status s = put(taker_, what_.list, files_ + "/list", context_.stop); !s.ok()) return s;
    // A pipe returns the status of its last command, so ssh's status is written to a file.
    const std::string script = fmt::format(
        R"sh(set -e
f={0} t=
mkdir -p {1}
{{
  r=0
  ssh -F /dev/null -T -i "$f/key" -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes -o StrictHostKeyChecking=yes \
    -o UserKnownHostsFile="$f/known_hosts" -o GlobalKnownHostsFile=/dev/null -o HostKeyAlias={2} -o LogLevel=ERROR \
    -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3 -p {3} -l {4} {5} {6} < /dev/null || r=$?
  echo $r > "$f/status"
}} | tar -C {1} -xf - --no-same-owner 2> "$f/said" || t=$?
r=$(cat "$f/status")
[ "$r" = 0 ] || exit "$r"
[ -z "$t" ] || {{ cat "$f/said" >&2; exit "$t"; }}
cd {1}
sha256sum -c --quiet "$f/list" >&2
)sh",
        shell_path(files_), shell_path(what_.directory), mark_, giver_.attributes.value("port", 22),
        shell_quote(text_of(giver_, "user", "root")), shell_quote(host), shell_quote(command()));
    return on_node(taker_, script, context_.stop).status();
  }

  const NodeHandle& taker_;
  const NodeHandle& giver_;
  const Fetched& what_;
  const Context& context_;
  const std::string run_, mark_, files_;
};

}  // namespace

Result<DatasetSpread::Turn> DatasetSpread::begin(const std::string& content, const std::string& group,
                                                 const Stop& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    State& state = states_[content + group];
    for (Giver& giver : state.givers) {
      if (giver.busy) continue;
      giver.busy = true;
      return Turn{giver.node, content, group};
    }
    if (state.givers.empty() && !state.sending) {
      state.sending = true;
      return Turn{std::nullopt, content, group};
    }
    if (Status s = stop.check(); !s.ok()) return s;
    changed_.wait_for(lock, kGlance);
  }
}

void DatasetSpread::end(const Turn& turn, const NodeHandle* taker) {
  std::lock_guard lock(mutex_);
  State& state = states_[turn.content + turn.group];
  if (!turn.giver) state.sending = false;
  for (Giver& giver : state.givers) {
    if (turn.giver && giver.node.address == turn.giver->address) giver.busy = false;
  }
  if (taker) state.givers.push_back({*taker});
  changed_.notify_all();
}

std::string spread_group(const NodeHandle& node) {
  if (!text_of(node, "local_directory").empty() || node.node == nullptr || text_of(node, "host_key").empty())
    return "";
  for (const ir::Interface& interface : node.node->interfaces) {
    if (!interface.network.empty())
      return fmt::format("\n{}\n{}\n{}", node.node->cloud, text_of(node, "vpc"), interface.network);
  }
  return "";
}

std::vector<std::string> names_of(std::string_view list) {
  constexpr size_t kBefore = 68;  // "SHA256  ./"
  std::vector<std::string> names;
  for (size_t end; (end = list.find('\n')) != list.npos; list.remove_prefix(end + 1))
    names.emplace_back(list.substr(std::min(kBefore, end), end - std::min(kBefore, end)));
  return names;
}

Status fetch_from_node(const NodeHandle& taker, const NodeHandle& giver, const Fetched& what,
                       const Context& context) {
  return Fetch(taker, giver, what, context).run();
}

}  // namespace radl
