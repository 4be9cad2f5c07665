#include "runtime/steps/jobs/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "common/digest.h"
#include "common/files.h"
#include "common/shell_quote.h"
#include "runtime/base/local_digest.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/jobs/process_script.h"

namespace radl::jobs {
namespace {

constexpr int kLongestTail = 16 << 10;  // bytes: a line may be of any length

}  // namespace

Result<ExecResult> Member::exec(const std::string& command, const Stop& stop) {
  auto remote = node_.connect();
  if (!remote) return std::move(remote).status().at(address());
  ExecOptions options;
  options.deadline = std::chrono::minutes(2);
  options.stop = stop.until(context_.stop.deadline());
  Ahead first = take_soon();
  options.stdin_bytes = std::move(first.input);
  auto result = exec_for_data(**remote, first.script + command, options);
  if (!result) return std::move(result).status().at(address());
  if (!first.script.empty() && result->exit_status == kSoonFailed)
    return std::move(ssh::command_failure(*result, folder())).at(address());
  return result;
}

// In a shell of its own: `set -e` and folders are the script's. What it prints is no part of the command's.
void Member::soon(const std::string& script) { add_soon(script, {}); }

void Member::add_soon(const std::string& script, std::string_view input) {
  std::lock_guard lock(soon_mutex_);
  // No `||` after the parentheses: it would disable `set -e` inside.
  soon_.script += fmt::format("(\n{}\n) > /dev/null\n[ $? = 0 ] || exit {}\n", script, kSoonFailed);
  soon_.input += input;
}

// The content goes over standard input: it may hold secrets, and scripts become arguments of a shell. Several
// files may share it: `dd` with blocks of one byte reads no more than its own, unlike BusyBox's `head`.
void Member::put_soon(std::string_view content, const std::string& below, unsigned mode) {
  add_soon(fmt::format(R"sh(cd {0} && umask 077 || exit 1
said=$(dd bs=1 count={1} 2>&1 > {2}.part) || {{ printf '%s\n' "$said" >&2; exit 1; }}
[ "$(($(wc -c < {2}.part)))" = {1} ] || {{ printf '%s: not all of it has come\n' {2} >&2; exit 1; }}
chmod {3:o} {2}.part && mv -f {2}.part {2})sh",
                       shell_path(folder()), content.size(), shell_quote(below), mode),
           content);
}

Ahead Member::take_soon() {
  std::lock_guard lock(soon_mutex_);
  return std::exchange(soon_, {});
}

bool Member::has_soon() const {
  std::lock_guard lock(soon_mutex_);
  return !soon_.script.empty();
}

int exit_status(const std::string& text) {
  if (text.empty() || text.size() > 3 || text.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::atoi(text.c_str());
}

std::string end_text(int exit) {
  if (exit < 0) return "was killed: it left no exit status";
  // A shell's exit status for a process that a signal ended (POSIX, 2.8.2).
  const char* name = exit > 128 ? ::sigabbrev_np(exit - 128) : nullptr;
  if (name == nullptr) return fmt::format("ended with exit status {}", exit);
  return fmt::format("was killed by SIG{} ({})", name, ::sigdescr_np(exit - 128));
}

Result<Member::Look> Member::look(const std::string& also, const Stop& stop) {
  constexpr std::string_view kBegin = "radl-look\n";
  // "whole" comes last: without it the answer is none.
  const std::string first = also.empty() ? "" : fmt::format("(\nset +e\n{}\n)\n", also);
  auto result =
      exec(fmt::format(R"sh({2}echo {3}
set -e
{1}echo "home $HOME"
for f in /proc/net/tcp /proc/net/tcp6; do
  if [ -r $f ]; then
    awk '/:/ {{ p = $2; sub(/.*:/, "", p); if (!(p in seen)) print "port :" p; seen[p] }}' $f
  fi
done
if [ ! -d {0} ]; then echo whole; exit; fi
cd {0}
# Fails unless the file has gone: a cancelled job is cleared meanwhile.
content() {{ cat "$1" || [ ! -e "$1" ]; }}
if [ -f run.json ]; then
  r=$(content run.json)
  if [ -n "$r" ]; then
    echo "run $r"
    begun=$(date -r run.json +%s 2> /dev/null) || [ ! -e run.json ]
    now=$(date +%s)
    echo "age $((now - ${{begun:-$now}}))"
  fi
fi
if [ -f cancelled ]; then echo cancelled; fi
for p in *.pid; do
  if [ ! -f "$p" ]; then continue; fi
  t=${{p%.pid}}
  if [ -f "$t.exit" ]; then
    e=$(content "$t.exit")
    echo "ended $t $e"
  elif leader "$t" > /dev/null 2>&1; then
    echo "running $t 0"
  else
    echo "ended $t -1"
  fi
done
for p in *.elsewhere; do
  if [ -f "$p" ]; then echo "running ${{p%.elsewhere}} 0"; fi
done
echo whole)sh",
                       shell_path(folder()), kProcessScript, first, kBegin.substr(0, kBegin.size() - 1)),
           stop);
  if (!result) return result.status();
  const size_t begin = result->out.find(kBegin);
  const std::string out = begin == std::string::npos ? "" : result->out.substr(begin + kBegin.size());
  if (result->exit_status != 0 || !out.ends_with("whole\n") || !out.starts_with("home /"))
    return Status(Code::Retry,
                  fmt::format("{}: the job's folder cannot be looked at: {}", address(), result->err));
  Look look;
  look.also = result->out.substr(0, begin);
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    size_t blank = line.find(' ');
    std::string kind = line.substr(0, blank), rest = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (kind == "home")
      look.home = rest;
    else if (kind == "port")
      look.ports.push_back(static_cast<int>(std::strtol(rest.c_str() + rest.find(':') + 1, nullptr, 16)));
    else if (kind == "run")
      look.run = rest;
    else if (kind == "age")
      look.age = std::chrono::seconds(std::max(0LL, std::atoll(rest.c_str())));
    else if (kind == "cancelled")
      look.cancelled = true;
    else if (kind == "running" || kind == "ended") {
      ProcessState state{kind == "running" ? ProcessState::Phase::Running : ProcessState::Phase::Ended, -1};
      size_t at = rest.rfind(' ');
      if (kind == "ended") state.exit = exit_status(rest.substr(at + 1));
      look.processes.emplace_back(rest.substr(0, at), state);
    }
  }
  return look;
}

std::string Member::clear_script(const std::string& remove, const std::string& then) const {
  return fmt::format(R"sh(set -e
{2}if [ ! -d {0} ]; then
  mkdir -p {0}
  chmod 0700 {0}
fi
cd {0}
for p in *.pid; do
  if [ -s "$p" ]; then signal "${{p%.pid}}" KILL 2>/dev/null || :; fi
done
signal '' KILL 2>/dev/null || :
for p in *.elsewhere; do
  if [ -f "$p" ]; then echo "${{p%.elsewhere}} still runs on another machine" >&2; exit 1; fi
done
rm -f elsewhere *.pid *.pid.tmp *.exit *.exit.tmp *.log run.json cancelled followed
rm -rf {1}
{3})sh",
                     shell_path(folder()), remove, kProcessScript, then);
}

void Member::clear_soon(const std::string& remove, const std::string& then) {
  soon(clear_script(remove, then));
}

Status Member::clear(const std::string& remove, const std::string& then) {
  auto result = exec(clear_script(remove, then));
  if (!result) return result.status();
  return result->exit_status == 0 ? Status()
                                  : std::move(ssh::command_failure(*result, folder())).at(address());
}

Status Member::keep_logs() {
  auto result = exec(fmt::format(R"sh(cd {} || exit 1
for l in *.log; do
  [ -f "$l" ] || continue
  n=1
  while [ -e "$l.$n" ]; do n=$((n+1)); done
  mv "$l" "$l.$n" || exit 1
done)sh",
                                 shell_path(folder())));
  if (!result) return result.status();
  return result->exit_status == 0 ? Status()
                                  : std::move(ssh::command_failure(*result, folder())).at(address());
}

Result<bool> Member::is_empty(const std::string& directory) {
  auto result =
      exec(fmt::format("[ -d {0} ] || {{ echo lacks; exit; }}; l=$(ls -A {0}) || exit 1; "
                       "if [ -n \"$l\" ]; then echo there; else echo lacks; fi",
                       shell_path(directory)));
  if (!result) return result.status();
  if (result->exit_status != 0) return std::move(ssh::command_failure(*result, directory)).at(address());
  return result->out == "lacks\n";
}

Status Member::write_run(const std::string& run) { return put_bytes(run, "run.json", context_.stop, 0600); }

Status Member::forget_run() {
  auto result = exec(fmt::format("rm -f {}/run.json", shell_path(folder())));
  if (!result) return result.status();
  return result->exit_status == 0 ? Status()
                                  : std::move(ssh::command_failure(*result, folder())).at(address());
}

Result<bool> Member::was_cancelled() {
  if (const Cancelled known = cancelled_; known != Cancelled::Unknown) return known == Cancelled::Yes;
  auto file = read("cancelled", 1);
  if (!file && file.status().code() != Code::NotFound) return file.status();
  return file.ok();
}

// Shell words that print how many processes the node's kernel has ended for want of memory since its boot.
constexpr const char* kOutOfMemory = "$(sed -n 's/^oom_kill //p' /proc/vmstat 2>/dev/null)";

// Shell text: kills the job if no radlc has followed it for this many seconds.
std::string end_unfollowed(const std::string& process, std::chrono::seconds most) {
  return fmt::format(
      "( trap '' HUP; i=0; while [ ! -e followed ] && leader {} > /dev/null; do\n"
      "  if [ $i -ge {} ]; then signal '' KILL; break; fi\n"
      "  i=$((i+1)); sleep 1\ndone ) < /dev/null > /dev/null 2>&1 &\n",
      process, most.count());
}

Status Member::start(const std::vector<Launch>& launches, std::optional<std::chrono::seconds> unfollowed) {
  cancelled_ = Cancelled::Unknown;
  std::string script =
      fmt::format("cd {} || exit 1\n{}{}", shell_path(folder()), kLoginLocale, kProcessScript);
  for (const auto& launch : launches) {
    // The shell around it outlives a signal to the group, so that the exit status is always written.
    std::string inner = fmt::format(
        "trap : TERM INT HUP QUIT USR1 USR2; IFS= read -r line < /proc/$$/stat; set -- ${{line##*) }}; "
        "echo \"$$ ${{20}} $(cat /proc/sys/kernel/random/boot_id)\" > {0}.pid.tmp && mv {0}.pid.tmp {0}.pid "
        "|| exit 1; o={2}; {1} >> {0}.log 2>&1 & c=$!; "
        "wait $c; r=$?; while kill -0 $c 2>/dev/null; do wait $c; r=$?; done; "
        "if [ $r != 0 ] && [ \"$o\" != \"{2}\" ]; then echo \"radlc: this node ran out of memory: its "
        "kernel's OOM "
        "killer ended a process while this one ran\" >> {0}.log; fi; "
        "echo $r > {0}.exit.tmp && mv {0}.exit.tmp {0}.exit",
        launch.name, launch.command, kOutOfMemory);
    // A process that lost its shell must not continue beside the new one.
    script += fmt::format("signal {0} KILL 2>/dev/null; rm -f {0}.pid {0}.exit || exit 1\n", launch.name);
    script += fmt::format("RADL_TASK=\"$PWD/{}:\" setsid /bin/sh -c {} </dev/null >/dev/null 2>&1 &\n",
                          launch.name, shell_quote(inner));
  }
  script += "for t in";
  for (const auto& launch : launches) script += " " + launch.name;
  script +=
      "; do i=0; while [ ! -s $t.pid ]; do i=$((i+1)); [ $i -gt 500 ] && exit 1; sleep 0.01; done; done\n";
  if (unfollowed && !launches.empty()) script += end_unfollowed(launches.front().name, *unfollowed);
  auto result = exec(script);
  if (!result) return result.status();
  return result->exit_status == 0
             ? Status()
             : Status(Code::Retry, address() + ": the job's processes could not be started: " + result->err);
}

Status Member::end_all() {
  auto result = exec(fmt::format("cd {} 2>/dev/null || exit 0\n{}signal '' KILL 2>/dev/null\nexit 0\n",
                                 shell_path(folder()), kProcessScript));
  return result ? Status() : result.status();
}

Status Member::signal(const std::vector<std::string>& names, const char* signal) {
  std::string script = fmt::format("cd {} 2>/dev/null || exit 0\n{}", shell_path(folder()), kProcessScript);
  // A process that ended on its own may have left others.
  const bool all = std::string_view(signal) == "KILL";
  for (const auto& name : names)
    script += fmt::format("{2}signal {0} {1} 2>/dev/null\n", name, signal,
                          all ? std::string() : fmt::format("[ -f {}.exit ] || ", name));
  auto result = exec(script + "exit 0\n");
  return result ? Status() : result.status();
}

Result<std::string> Member::log_tail(const std::string& file, int lines) {
  auto result =
      exec(fmt::format("tail -n {} {}/{}.log | tail -c {}", lines, shell_path(folder()), file, kLongestTail));
  if (!result) return result.status();
  return result->out;
}

Result<bool> Member::read_all(const std::string& below,
                              const std::function<void(std::string_view piece)>& take) {
  auto remote = node_.connect();
  if (!remote) return std::move(remote).status().at(address());
  constexpr int kNone = 44;
  ExecOptions options;
  options.deadline = std::chrono::hours(24);
  options.stop = context_.stop;
  options.on_output = [&](std::string_view piece, bool is_stderr) {
    if (!is_stderr) take(piece);
  };
  const std::string path = shell_path(folder() + "/" + below);
  auto done = (*remote)->exec(fmt::format("[ -e {0} ] || exit {1}\nexec cat {0}", path, kNone), options);
  if (!done) return std::move(done).status().at(address());
  if (done->exit_status == kNone) return false;
  if (done->exit_status != 0) return std::move(ssh::command_failure(*done, below)).at(address());
  return true;
}

Status Member::fetch_file(const std::string& below, const std::string& local_path, const Stop& stop) {
  auto remote = node_.connect();
  if (!remote) return remote.status();
  return (*remote)->get_file(folder() + "/" + below, local_path, stop);
}

}  // namespace radl::jobs
