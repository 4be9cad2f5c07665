#include "runtime/steps/farm/agent.h"

#include <fmt/format.h>

#include <cstdlib>

#include "common/replaced.h"
#include "runtime/steps/jobs/notices.h"
#include "runtime/steps/jobs/process_script.h"

namespace radl::farm {
namespace {

// Wraps each task: records its end even if no radlc listens. Survives signals to its group, except KILL.
// Starting a program costs more than all that the shell does itself.
constexpr const char* kRun = R"sh(id=$1
trap : TERM INT HUP QUIT USR1 USR2
BEGIN
# New bytes of the task's files with metrics, 32 KiB at a time; of each file at most 64 MiB.
forward() {
  find farm/$id/results -type f -name 'PATTERN' 2> /dev/null | LC_ALL=C sort | while IFS= read -r f; do
    key=$(printf %s "$f" | cksum) at=0
    case ${f##*/} in *tfevents*) key=e${key%% *} ;; *) key=l${key%% *} ;; esac
    [ ! -e farm/$id/seen.$key ] || read -r at < farm/$id/seen.$key
    size=$(wc -c < "$f") || continue
    [ "$size" -ge "$at" ] || at=0
    [ "$size" -le 67108864 ] || size=67108864
    while [ "$size" -gt "$at" ]; do
      n=$((size - at))
      [ $n -le 32768 ] || n=32768
      tail -c +$((at + 1)) "$f" | head -c $n > farm/$id/bytes
      n=$(wc -c < farm/$id/bytes) && [ "$n" -gt 0 ] || break  # it has become shorter meanwhile
      {
        printf 'piece %s %s %s ' "$id" "$key" "$at"
        base64 < farm/$id/bytes | tr -d '\n'
        echo
      } > farm/$id/piece
      cat farm/$id/piece >> EVENTS
      at=$((at + n))
      echo $at > farm/$id/seen.$key
    done
  done
}
if [ METRICS = stdout ]; then
  mkfifo farm/$id/pipe || exit 1
  ( . farm/$id/script ) > farm/$id/pipe 2>&1 < /dev/null & c=$!
  (
    trap '' TERM INT HUP QUIT USR1 USR2
    while IFS= read -r l || [ -n "$l" ]; do
      printf '%s\n' "$l"
      case $l in "{"*) printf 'line %s %s\n' "$id" "$l" >> EVENTS ;; esac
    done < farm/$id/pipe > farm/logs/$id.log
  ) & k=$!
elif [ METRICS = files ]; then
  ( . farm/$id/script ) > farm/logs/$id.log 2>&1 < /dev/null & c=$!
  (
    trap '' TERM INT HUP QUIT USR1 USR2
    until [ -e farm/$id/over ]; do forward; sleep 1; done
    forward
  ) & k=$!
else
  ( . farm/$id/script ) > farm/logs/$id.log 2>&1 < /dev/null & c=$!
  k=
fi
wait $c; r=$?
while kill -0 $c 2> /dev/null; do wait $c; r=$?; done
if [ METRICS = files ]; then
  : > farm/$id/over
  while kill -0 $k 2> /dev/null; do wait $k; done
elif [ -n "$k" ]; then
  # A process that the task has left behind may hold the pipe open for ever.
  (trap '' TERM INT HUP QUIT USR1 USR2; sleep 5; kill -KILL $k) 2> /dev/null & w=$!
  while kill -0 $k 2> /dev/null; do wait $k; done
  kill -KILL $w 2> /dev/null
fi
out=
for f in farm/$id/results/* farm/$id/results/.[!.]*; do
  if [ -e "$f" ]; then out=results; break; fi
done
FINISH
)sh";

constexpr const char* kBegin = R"sh(IFS= read -r line < /proc/$$/stat
set -- ${line##*) }
read -r boot < /proc/sys/kernel/random/boot_id
echo "$$ ${20} $boot" > $id.pid || exit 1)sh";
// An exit file without a line is none: its disk was full, or it is being written.
constexpr const char* kFinish = R"sh(echo "$r $out" > farm/$id/exit
echo "end $id $r $out" >> farm/events
: > $id.pid)sh";

// A signal may have come from the cluster's scheduler, which knows why: its agent tells such an end.
constexpr const char* kToldBegin =
    R"sh(echo "runs $id ${SLURMD_NODENAME:-$(uname -n)} $(date +%s)" >> EVENTS)sh";
constexpr const char* kToldFinish =
    R"sh(echo "$r $out" > farm/$id/exit.new && mv farm/$id/exit.new farm/$id/exit
[ "$r" -ge 128 ] || echo "end $id $r $out" >> EVENTS
rm -f $id.elsewhere
exit $r)sh";

// An end that cannot be written down (a full disk) is printed.
constexpr const char* kAgent = R"sh(say() { echo "$*" >> farm/events || echo "$*"; }
# Removes the .pid files of ended attempts.
sweep() {
  set --
  for p in *.pid; do
    if [ ! -s "$p" ] && [ -s "farm/${p%.pid}/exit" ]; then set -- "$@" "$p"; fi
  done
  [ $# = 0 ] || rm -f "$@"
  started=0
}
sweep
mkdir -p farm/logs checkpoints && : >> farm/events || exit 1
echo ready
tail -n +1 -f farm/events & t=$!
NOTICES
trap 'kill $t $a 2> /dev/null' EXIT
while IFS= read -r line; do
  what=${line%% *} rest=${line#* }
  id=${rest%% *}
  case $what in
  start)
    if [ ! -e farm/$id ]; then
      started=$((started + 1))
      [ $started -lt 64 ] || sweep
      if mkdir -p farm/$id/results checkpoints/${id%.*} && printf '%b' "${rest#* }" > farm/$id/script; then
        (RADL_TASK="$PWD/$id:" setsid /bin/sh farm/run $id < /dev/null > /dev/null 2>&1 &)
      else
        echo "end $id 126 "
      fi
    fi ;;
  stop)
    signal $id "${rest#* }" 2> /dev/null
    if [ "${rest#* }" = KILL ] && [ -e farm/$id ] && [ ! -s farm/$id/exit ]; then
      say "end $id 137 "
      rm -f $id.pid
    fi ;;
  check)
    if [ -e cancelled ]; then echo cancelled; fi
    if [ ! -s farm/$id/exit ] && ! leader $id > /dev/null 2>&1 && [ ! -s farm/$id/exit ]; then
      say "gone $id"
    elif [ -s farm/$id/exit ]; then
      read -r r o < farm/$id/exit && say "end $id $r $o"
    fi ;;
  keep)
    for p in *.pid; do
      id=${p%.pid}
      case " $rest " in
      *" $id "*) ;;
      *) [ ! -s "$p" ] || [ -s farm/$id/exit ] || signal $id KILL 2> /dev/null ;;
      esac
    done ;;
  beat) read -r up idle < /proc/uptime && echo "${up%%.*}" > farm/heard ;;
  forget)
    # No task runs, so nobody writes meanwhile.
    kill $t
    : > farm/events
    tail -n +1 -f farm/events & t=$! ;;
  drop) rm -rf farm/$id/results farm/parents/$id farm/images/$id ;;
  esac
done
)sh";

}  // namespace

std::string agent_script(const std::string& folder, const std::string& metrics, const std::string& notices) {
  // It prints on its standard error.
  const std::string asks =
      notices.empty() ? "a=" : fmt::format("( {} ) < /dev/null 2>&1 > /dev/null & a=$!", notices);
  return fmt::format(
      "cd {} || exit 1\numask 077\nmkdir -p farm || exit 1\ncat > farm/run "
      "<<'END_OF_RUN'\n{}END_OF_RUN\n{}{}",
      folder, run_script(metrics, false), jobs::kProcessScript, replaced(kAgent, "NOTICES", asks));
}

std::string run_script(const std::string& metrics, bool told) {
  const std::string how = metrics.empty() ? "no" : metrics == kStdout ? kStdout : "files";
  std::string script = replaced(kRun, "METRICS", how);
  script = replaced(script, "BEGIN", told ? kToldBegin : kBegin);
  script = replaced(script, "FINISH", told ? kToldFinish : kFinish);
  script = replaced(script, "EVENTS", told ? "farm/told/$id" : "farm/events");
  return replaced(script, "PATTERN", metrics);
}

std::string start_command(const std::string& id, const std::string& script) {
  // As printf '%b' reads it.
  return fmt::format("start {} {}\n", id, replaced(replaced(script, "\\", "\\\\"), "\n", "\\n"));
}

std::string stop_command(const std::string& id, const std::string& signal) {
  return fmt::format("stop {} {}\n", id, signal);
}
std::string check_command(const std::string& id) { return "check " + id + "\n"; }
std::string beat_command() { return "beat\n"; }
std::string forget_command() { return "forget\n"; }
std::string drop_command(const std::string& id) { return "drop " + id + "\n"; }
std::string keep_command(const std::vector<std::string>& ids) {
  return fmt::format("keep {} \n", fmt::join(ids, " "));
}

std::optional<AgentLine> read_agent_line(const std::string& line) {
  using Kind = AgentLine::Kind;
  AgentLine made;
  if (line == "ready") return made;
  if (line == "cancelled") {
    made.kind = Kind::Cancelled;
    return made;
  }
  if (auto notice = jobs::read_notice(line)) {
    made.kind = Kind::Notice;
    made.text = notice->answer;
    return made;
  }
  const size_t first = line.find(' ');
  const size_t second = first == line.npos ? line.npos : line.find(' ', first + 1);
  const std::string what = line.substr(0, first);
  const std::string id =
      first == line.npos ? "" : line.substr(first + 1, second == line.npos ? second : second - first - 1);
  const std::string rest = second == line.npos ? "" : line.substr(second + 1);
  if (what == "capacity" || what == "trouble") {
    made.kind = what == "capacity" ? Kind::Capacity : Kind::Trouble;
    made.text = first == line.npos ? "" : line.substr(first + 1);
    return made;
  }
  const size_t dot = id.rfind('.');
  if (dot == id.npos || dot == 0) return std::nullopt;
  made.task = id.substr(0, dot);
  made.attempt = std::atoi(id.c_str() + dot + 1);
  if (made.attempt < 1) return std::nullopt;
  if (what == "end") {
    made.kind = Kind::End;
    const size_t blank = rest.find(' ');
    made.status = jobs::exit_status(rest.substr(0, blank));
    made.results = blank != rest.npos && rest.substr(blank + 1) == "results";
    return made;
  }
  constexpr std::pair<std::string_view, Kind> kKinds[] = {{"line", Kind::Line},
                                                          {"piece", Kind::Piece},
                                                          {"gone", Kind::Gone},
                                                          {"queued", Kind::Queued},
                                                          {"runs", Kind::Runs}};
  for (const auto& [word, kind] : kKinds) {
    if (what != word) continue;
    made.kind = kind;
    made.text = rest;
    return made;
  }
  return std::nullopt;
}

}  // namespace radl::farm
