// A node's side of a job as it runs: what its processes write, use, and end with.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include "common/digest.h"
#include "common/lines.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/jobs/member.h"
#include "runtime/steps/jobs/notices.h"
#include "runtime/steps/jobs/process_script.h"
#include "runtime/steps/jobs/services.h"
#include "runtime/steps/jobs/silence.h"

namespace radl::jobs {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;  // bytes; of a longer one the beginning is given
constexpr size_t kLongestOther = size_t{1} << 17;

// Every five seconds, the first early.
constexpr const char* kUsageLook = "[ $used != yes ] || usage $n >&2\n      ";
constexpr int kServicesEach = 20;  // tenths of a second
constexpr const char* kSignOfLife = "alive";
constexpr std::chrono::seconds kReachAgain{8};

// A process may have written more than has come when it ends. The function `caught_up FILE MOST` waits until
// $tail, the tail, has read all of a file, as long as it reads and at most so many tenths of a second.
constexpr const char* kCaughtUp = R"sh(caught_up() {
  was=- still=0 i=0
  while [ $i -lt $2 ] && [ $still -lt 50 ]; do
    i=$((i+1)) pos=
    for f in /proc/$tail/fd/*; do
      if [ "$f" -ef "$1" ]; then read -r k pos < "/proc/$tail/fdinfo/${f##*/}"; break; fi
    done 2>/dev/null
    [ -n "$pos" ] && [ "$pos" -lt "$(wc -c < "$1")" ] || return 0
    if [ "$pos" = "$was" ]; then still=$((still+1)); else still=0; fi
    was=$pos
    sleep 0.1
  done
}
)sh";
constexpr int kTenthsBeforeAnEnd = 20, kTenthsForAll = 600;

// The shell's side of follow(): lines as they are written, and "MARK NAME STATUS". What processes use comes
// on the other stream: there it stands in no line that is half written.
std::string follow_command(const std::string& folder, const std::vector<std::string>& names,
                           const Member::Follower& follower, const std::map<std::string, bool>& ended,
                           const std::string& mark, const std::string& notices) {
  std::string files, left;
  for (const auto& name : names) {
    files += " " + follower.before + name + follower.behind;
    if (auto found = ended.find(name); found == ended.end() || !found->second) left += " " + name;
  }
  // The background loop that polls for notices is not part of the job.
  const std::string asking =
      notices.empty() ? "asks=" : fmt::format("( {} ) < /dev/null > /dev/null & asks=$!", notices);
  // Looks may take their time; this does not wait for them.
  // If no reader is left, a sign of life cannot be written, and sshd ends the shell. Otherwise this ends
  // first.
  const std::string unheard = follower.bound ? "signal '' KILL; " : "";
  const std::string begun = follower.bound ? ": > followed" : "";
  const std::string signs = fmt::format(
      "( trap '' PIPE HUP; exec 3>&2 2> /dev/null; while kill -0 $$ && echo {} >&3; do sleep {} 3>&-; done; "
      "{}) "
      "< /dev/null > /dev/null & lives=$!",
      kSignOfLife, kSignEverySeconds, unheard);
  std::string services;
  if (!follower.services.empty())
    services = fmt::format("[ $((tenths / {0})) = $((last / {0})) ] || services{1} >&2\n  ", kServicesEach,
                           service_words(follower.services));
  // tail sleeps in the kernel until something is written; the loop looks whether all are alive, twice a
  // second, and more often in the first seconds, so that a short program is over when it has ended. An exit
  // file that cannot be read ends the command, not the process. The names of variables are none of
  // kProcessScript's.
  return fmt::format(R"sh(cd {0} && touch{1} || exit 1
{3}tail -q -n +1 -F{1} 2>/dev/null & tail=$!
{11}
{12}
{13}
trap 'kill $tail $asks $lives 2>/dev/null' EXIT
left="{2}" tenths=0 last=-20 used= usage_at=10
while [ -n "$left" ]; do
  now=$left left=
  used=no
  if [ $tenths -ge $usage_at ]; then used=yes usage_at=$((tenths+50)); fi
  {6}last=$tenths
  for n in $now; do
    if [ ! -f $n.exit ] && leader $n > /dev/null 2>&1; then
      left="$left $n"
      {5}continue
    fi
    if [ -f $n.exit ]; then
      caught_up {7}$n{8} {9}
      sleep 0.05
      e=$(cat $n.exit) || exit 1
    else
      e=-1
    fi
    c=-
    if [ -f cancelled ]; then c=cancelled; fi
    echo
    echo "{4} $n $c $e"
  done
  [ -n "$left" ] || break
  if [ $tenths -lt 50 ]; then tenths=$((tenths+1)); sleep 0.1; else tenths=$((tenths+5)); sleep 0.5; fi
done
for f in{1}; do caught_up $f {10}; done
sleep 0.05
trap - EXIT
kill $tail $asks $lives 2>/dev/null)sh",
                     shell_path(folder), files, left,
                     std::string(kProcessScript) + kCaughtUp + (follower.on_usage ? kUsageScript : "") +
                         (follower.services.empty() ? "" : kServicesScript),
                     mark, follower.on_usage ? kUsageLook : "", services, follower.before, follower.behind,
                     kTenthsBeforeAnEnd, kTenthsForAll, asking, signs, begun);
}

void take_notice(const NoticeSpec& spec, const NoticeLine& line, const Member::Follower& follower) {
  if (line.cannot) {
    if (follower.cannot_hear) follower.cannot_hear();
    return;
  }
  // A response of an unknown form is not a notice; the machine continues until it is gone.
  auto notice = notice_in(spec, line.answer);
  if (notice.ok() && *notice) follower.on_notice(**notice);
}

void take_usage(const std::string& line, std::map<std::string, UsageReading>& last,
                const Member::Follower& follower) {
  const auto reading = read_usage(line);
  if (!reading || !follower.on_usage) return;
  auto found = last.find(reading->process);
  if (found != last.end()) follower.on_usage(reading->process, usage_between(found->second, *reading));
  last[reading->process] = *reading;
}

// What is known of the processes that are followed, over all connections.
struct Followed {
  const std::vector<std::string>& names;
  const Member::Follower& follower;
  // A line of a program must not pass for one of ours.
  const std::string mark = "@ended-" + to_hex(random_bytes(8));
  std::map<std::string, size_t> seen = {};  // lines of each so far
  std::map<std::string, bool> ended = {};
  std::vector<std::string> again = {};               // to be started again
  std::function<void(bool cancelled)> on_cancelled;  // whether the job was, when a process ended

  bool all_ended() {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return ended[name]; });
  }

  // A line of this connection, which has shown `now` lines of each.
  void take(const std::string& line, std::map<std::string, size_t>& now) {
    if (line.empty()) return;
    if (line.starts_with(mark)) return take_end(line);
    const std::optional<std::string> whose = follower.whose(line);
    if (!whose || ++now[*whose] <= seen[*whose]) return;
    seen[*whose] = now[*whose];
    follower.on_line(line);
  }

  void take_end(const std::string& line) {
    const size_t at = line.rfind(' '), before = line.rfind(' ', at - 1);
    const std::string name = line.substr(mark.size() + 1, before - mark.size() - 1);
    on_cancelled(line.substr(before + 1, at - before - 1) == "cancelled");
    if (ended[name] || std::find(again.begin(), again.end(), name) != again.end()) return;
    if (follower.on_end(name, exit_status(line.substr(at + 1))))
      again.push_back(name);
    else
      ended[name] = true;
  }

  // Whether those that shall be started again run now.
  bool restart() {
    if (again.empty()) return false;
    const bool restarted = follower.restart(again).ok();
    for (const std::string& name : again) ended[name] = !restarted;
    again.clear();
    return restarted;
  }
};

}  // namespace

namespace {

using FollowTime = std::chrono::steady_clock::time_point;

FollowTime follow_now() { return std::chrono::steady_clock::now(); }

// What comes over one connection after the other.
class Hearing {
 public:
  Hearing(Followed& followed, const Member::Follower& follower, const NoticeSpec& notices)
      : followed_(followed), follower_(follower), notices_(notices) {}

  void begin() {
    lines_ = Lines(kLongestLine);
    others_ = Lines(kLongestOther);
    now_.clear();
    readings_.clear();
    silence_.begin(follow_now());
  }
  void take(std::string_view piece, bool is_stderr) {
    if (silence_.heard(follow_now()) && follower_.on_silence) follower_.on_silence(false);
    heard_ = true;
    if (is_stderr)
      others_.add(piece, [&](std::string_view other, bool cut) {
        if (!cut) take_other(std::string(other));
      });
    else
      lines_.add(piece, [&](std::string_view line, bool) { followed_.take(std::string(line), now_); });
  }
  void listen() {
    if (silence_.begins(follow_now()) && follower_.on_silence) follower_.on_silence(true);
  }
  // Whether anything has come since it was asked last.
  bool take_heard() { return std::exchange(heard_, false); }
  bool heard() const { return heard_; }

 private:
  void take_other(const std::string& line) {
    if (line == kSignOfLife) return;
    if (auto notice = read_notice(line)) return take_notice(notices_, *notice, follower_);
    take_usage(line, readings_, follower_);
    if (auto what = services_.take(line); what && follower_.on_service) follower_.on_service(*what);
  }

  Followed& followed_;
  const Member::Follower& follower_;
  const NoticeSpec& notices_;
  Lines lines_{kLongestLine}, others_{kLongestOther};
  std::map<std::string, size_t> now_;
  std::map<std::string, UsageReading> readings_;
  ServiceWatch services_;
  Silence silence_;
  bool heard_ = false;
};

}  // namespace

Status Member::follow(const std::vector<std::string>& names, const Follower& follower) {
  Followed followed{.names = names, .follower = follower, .on_cancelled = [this](bool cancelled) {
                      cancelled_ = cancelled ? Cancelled::Yes : Cancelled::No;
                    }};
  const auto declared = node_.attributes.find("eviction_notice");
  const NoticeSpec notices =
      follower.on_notice && declared != node_.attributes.end() ? notice_spec_in(*declared) : NoticeSpec();
  Hearing hearing(followed, follower, notices);
  std::optional<FollowTime> unreachable_since;
  std::string first_why;
  auto too_late = [&] { return unreachable_since && follow_now() - *unreachable_since > kReachAgain; };
  while (!follower.stop() && !followed.all_ended()) {
    hearing.begin();
    ExecOptions options;
    options.deadline = std::chrono::hours(24 * 30);
    options.stop = Stop::when([&] {
      hearing.listen();
      return follower.stop() || !followed.again.empty() || (too_late() && !hearing.heard());
    });
    options.on_output = [&](std::string_view piece, bool is_stderr) { hearing.take(piece, is_stderr); };
    const std::string asking = notice_script(notices);
    auto remote = node_.connect();
    auto result =
        remote
            ? (*remote)->exec(
                  follow_command(folder(), names, follower, followed.ended, followed.mark, asking), options)
            : Result<ExecResult>(remote.status());
    if (follower.stop() || (result && followed.all_ended())) break;
    if (hearing.take_heard() && !result) unreachable_since.reset();
    if (followed.restart()) continue;
    std::string what = result ? "the job's folder is gone" : result.status().message();
    // The attempt was ended here, so its end means nothing.
    if (!result && result.status().code() == Code::Cancelled && unreachable_since) what = first_why;
    const Status why(Code::Lost, fmt::format("{}: {}", address(), what));
    if (!unreachable_since) {
      unreachable_since = follow_now();
      first_why = what;
      follower.unreachable(Status(Code::Lost, what));
    }
    if (too_late()) return why;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  return {};
}

Result<std::map<std::string, Usage>> Member::usage(const std::vector<std::string>& names, const Stop& stop) {
  const std::string all = fmt::format("for n in {}; do usage $n; done\n", fmt::join(names, " "));
  auto result = exec(fmt::format("cd {} || exit 1\n{}{}{}sleep 0.5\n{}", shell_path(folder()), kProcessScript,
                                 kUsageScript, all, all),
                     stop);
  if (!result) return result.status();
  if (result->exit_status != 0) return std::move(ssh::command_failure(*result, folder())).at(address());
  std::map<std::string, Usage> usages;
  std::map<std::string, UsageReading> first;
  std::istringstream lines(result->out);
  for (std::string line; std::getline(lines, line);) {
    const auto reading = read_usage(line);
    if (!reading) continue;
    auto [found, is_first] = first.emplace(reading->process, *reading);
    if (!is_first) usages[reading->process] = usage_between(found->second, *reading);
  }
  return usages;
}

}  // namespace radl::jobs
