#include "runtime/net/lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "common/shell_quote.h"
#include "runtime/net/login_line.h"

namespace radl {
namespace {

// POSIX sh and /proc. `ps_all`: "pid parent session start" of every process that lives. `tree PID`: sets
// `all` to " pid:start ..." of a process, its session, and what is below them, adding to what it holds; what
// has left its parents is still in their session.
constexpr const char* kProcesses = R"sh(
ps_all() {
  for f in /proc/[0-9]*/stat; do
    { read -r l < "$f"; } 2>/dev/null || continue
    p=${l%% *}; set -- ${l##*) }
    case $1 in Z|X) ;; *) echo "$p $2 $4 ${20}" ;; esac
  done
}
start_of() { s=; { read -r l < "/proc/$1/stat"; } 2>/dev/null && set -- ${l##*) } && s=${20} && group=$4 state=$1; }
tree() {
  start_of "$1"
  if [ -n "$s" ]; then
    top=$group
    case "$all" in *" $1:"*) ;; *) all="$all$1:$s " ;; esac
  fi
  list=$(ps_all); more=1
  while [ -n "$more" ]; do
    more=
    while read -r p parent session s; do
      case "$all" in *" $p:$s "*) continue ;; esac
      case "$all" in *" $parent:"*|*" $session:"*) ;; *) [ "$session" = "$top" ] || continue ;; esac
      all="$all$p:$s "; more=1
    done <<L
$list
L
  done
}
signal_all() {
  left=
  for one in $all; do
    start_of "${one%:*}"
    [ "$s" = "${one#*:}" ] || continue
    case $state in Z|X) continue ;; esac
    left="$left ${one%:*}"
    kill "-$1" "${one%:*}" 2>/dev/null
  done
}
)sh";

// Ends the tree of $1 (started at $2). Exit status 1: a part still exists. Measures time by the clock,
// because scanning many processes is slow and not every `sleep` accepts fractions of a second.
constexpr const char* kEnd = R"sh(
start_of "$1"
[ -z "$2" ] || [ -z "$s" ] || [ "$s" = "$2" ] || exit 0
all=' ' top=$1
seconds() { read -r up rest < /proc/uptime; up=${up%.*}; }
tree "$1"; signal_all TERM
seconds; until=$((up+5))
while tree "$1"; signal_all 0; [ -n "$left" ] && [ $up -lt $until ]; do sleep 0.1 2>/dev/null || sleep 1; seconds; done
until=$((up+5))
while [ -n "$left" ] && [ $up -lt $until ]; do tree "$1"; signal_all KILL; sleep 0.1 2>/dev/null || sleep 1; signal_all 0; seconds; done
[ -z "$left" ]
)sh";

// One word each, so that an entry is one line.
std::string word(const std::string& text) {
  std::string out;
  for (char c : text) out += std::isspace(static_cast<unsigned char>(c)) || c == '\0' ? '_' : c;
  return out.empty() ? "-" : out;
}

// What the login may not end, root may.
std::string as_root_if_possible(const std::string& script, const std::string& arguments) {
  std::string quoted = shell_quote(script);
  return fmt::format(
      "if [ \"$(id -u)\" != 0 ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n "
      "/bin/sh "
      "-c {0} sh {1}; else /bin/sh -c {0} sh {1}; fi",
      quoted, arguments);
}

constexpr const char* kTake = R"sh(
d=$HOME/.radl/lease
[ -d "$d" ] || (umask 077; mkdir -p "$d") || exit 1
cd "$d" || exit 1
read -r boot < /proc/sys/kernel/random/boot_id || exit 1
for e in [0-9]*; do
  { read -r b t infrastructure run since step; } 2>/dev/null < "$e" || continue
  start_of "$e"
  if [ "$b" != "$boot" ] || [ "$t" != "$s" ]; then rm -f "$e"; continue; fi
  if [ "$infrastructure" != "$MINE" ]; then echo "busy $since $infrastructure $step"; continue; fi
  [ "$run" = "$RUN" ] && [ "$step" != "$STEP" ] && continue
  if end_it "$e" "$t" </dev/null >/dev/null 2>&1; then rm -f "$e"; echo "ended $since $infrastructure $step"
  else echo "stuck $since $infrastructure $step"; fi
done
exit 0
)sh";

constexpr const char* kTaken = R"sh(
found=$( take ) || exit 1
[ -z "$found" ] || printf '%s\n' "$found"
case "
$found" in *"
busy "*|*"
stuck "*) exit 0 ;; esac
echo taken
)sh";

constexpr size_t kTakeOutput = size_t{1} << 20;  // of all the entries of a node

struct Entry {
  std::string what, since, infrastructure, step;
};

std::vector<Entry> entries(const std::string& text) {
  std::vector<Entry> all;
  std::istringstream lines(text);
  for (Entry one; lines >> one.what >> one.since >> one.infrastructure >> one.step;) all.push_back(one);
  return all;
}

}  // namespace

std::string end_tree_script() { return std::string(kProcesses) + kEnd; }

std::string end_process_tree(const std::string& pid, const std::string& start) {
  return as_root_if_possible(std::string(kProcesses) + kEnd, shell_quote(pid) + " " + shell_quote(start));
}

std::string under_lease(const Lease& lease, const std::string& command) {
  // $$ is the shell that the command runs below.
  return fmt::format(
      "d=$HOME/.radl/lease; e=$d/$$; [ -d \"$d\" ] || (umask 077; mkdir -p \"$d\"); "
      "{{ read -r b < /proc/sys/kernel/random/boot_id && read -r l < /proc/$$/stat; }} 2>/dev/null && "
      "set -- ${{l##*) }} && echo \"$b ${{20}} \"{} > \"$e\" || "
      "{{ echo \"the lease of the node cannot be taken: $e\" >&2; exit 125; }}\n"
      "( {}\n)\nr=$?; rm -f \"$e\"; exit $r",
      shell_quote(fmt::format("{} {} {} {}", word(lease.infrastructure), word(lease.run), word(lease.since),
                              word(lease.step))),
      command);
}

std::string ssh_under_lease(const Lease& lease) {
  // The command is the last argument. /bin/sh runs it as one word, whatever the login shell is.
  return std::string("#!/bin/sh\n") + kForLogin +
         "[ $# -gt 2 ] || exec ssh \"$@\"\n"
         "for word; do [ \"$word\" != -O ] || exec ssh \"$@\"; done\n"
         "count=$#; n=0\n"
         "for word; do n=$((n+1)); [ $n = $count ] || set -- \"$@\" \"$word\"; done\n"
         "shift $count\n"
         "quoted=$(printf '%s.' \"$word\" | sed \"s/'/'\\\\\\\\''/g\")\n"
         "script=\"RADL_COMMAND='${quoted%.}'; export RADL_COMMAND\n\"" +
         shell_quote(under_lease(lease, "/bin/sh -c \"$RADL_COMMAND\"")) +
         "\nexec ssh \"$@\" \"$(for_login \"$script\")\"\n";
}

namespace {

// Prints the existing entries, and finally "taken" if nothing prevents acting now; otherwise exits there.
std::string take_script(const Lease& lease) {
  return fmt::format("MINE={}\nRUN={}\nSTEP={}\nend_it() {{ set -- \"$1\" \"$2\"; {}; }}\n",
                     shell_quote(word(lease.infrastructure)), shell_quote(word(lease.run)),
                     shell_quote(word(lease.step)),
                     as_root_if_possible(std::string(kProcesses) + kEnd, "\"$1\" \"$2\"")) +
         kProcesses + "take() {" + kTake + "}\n" + kTaken;
}

Status unless_stuck(const std::vector<Entry>& found,
                    const std::function<void(const std::string& line)>& log) {
  for (const Entry& one : found) {
    if (one.what == "ended")
      log(fmt::format("ended {}, which had been running there since {}", one.step, one.since));
    if (one.what == "stuck")
      return Status(Code::Conflict, fmt::format("{} has been running there since {} and cannot be ended",
                                                one.step, one.since))
          .with_hint("end it on the node, or replace the node");
  }
  return {};
}

}  // namespace

Status take_lease(Remote& remote, const Lease& lease, const Stop& stop,
                  const std::function<void(const std::string& line)>& log) {
  ExecOptions nothing;
  nothing.deadline = std::chrono::minutes(2);
  nothing.stop = stop;
  return take_lease_then(remote, lease, nothing, log).status();
}

Result<ExecResult> take_lease_then(Remote& remote, const Lease& lease, const ExecOptions& then,
                                   const std::function<void(const std::string& line)>& log) {
  ExecOptions options = then;
  options.stdin_bytes = take_script(lease) + then.stdin_bytes;
  std::string heard;  // the beginning: what exec() gives is the end
  options.on_output = [&](std::string_view piece, bool is_stderr) {
    if (!is_stderr && heard.size() < kTakeOutput) heard += piece;
    if (then.on_output) then.on_output(piece, is_stderr);
  };
  for (bool told = false;;) {
    heard.clear();
    auto looked = remote.exec("exec /bin/sh -s", options);
    if (!looked) return looked;
    const bool taken = ("\n" + heard).find("\ntaken\n") != std::string::npos;
    if (!taken && looked->exit_status != 0)
      return Status(Code::Unsupported, "the node's lease cannot be taken (~/.radl/lease): " + looked->err)
          .with_hint("the login's home must be writable, and /proc mounted");
    const std::vector<Entry> found = entries(heard.substr(0, heard.find("taken\n")));
    if (Status s = unless_stuck(found, log); !s.ok()) return s;
    if (taken) return looked;
    const auto busy =
        std::find_if(found.begin(), found.end(), [](const Entry& one) { return one.what == "busy"; });
    if (busy == found.end())
      return Status(Code::Retry, "the node's answer about its lease is not whole: " + looked->err);
    std::string who = fmt::format("{} of {}, since {}", busy->step, busy->infrastructure, busy->since);
    if (!told) log("waiting for " + who);
    told = true;
    if (!then.stop.sleep(std::chrono::seconds(1))) {
      Status why = then.stop.check();
      return Status(why.code(), fmt::format("{} while waiting for {}", why.message(), who));
    }
  }
}

}  // namespace radl
