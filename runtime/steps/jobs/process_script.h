// The processes of a job as the shell of a node finds and ends them.
#pragma once

#include <string>

namespace radl::jobs {

// Shell functions for the folder of a job. A process number may have been given to another program since:
// ours is known by its start time and the boot, which NAME.pid holds as "PID START BOOT".
//   start_of PID        when it was started, in ticks since the boot; nothing where it has ended
//   leader NAME         the number of the shell around the process, while it lives
//   marked NAME         all that descends from it, found by its environment; of every process with NAME ''
//   signal NAME SIGNAL  while the shell lives its group alone is asked to end, and hands that on as it likes
//                       (a second TERM would end a program that is writing its checkpoint); KILL is for all
// NAME.elsewhere is a process on another machine; the script `elsewhere` takes the signals for those.
inline constexpr const char* kProcessScript = R"sh(start_of() {
  IFS= read -r line < "/proc/$1/stat" || return 1
  set -- ${line##*) }
  [ "$1" != Z ] && [ "$1" != X ] && echo "${20}"
}
leader() {
  p= s= b= boot=
  read -r p s b < "$1.pid" || return 1
  read -r boot < /proc/sys/kernel/random/boot_id || return 1
  [ -n "$b" ] && [ "$b" = "$boot" ] && [ "$s" = "$(start_of "$p")" ] && echo "$p"
}
marked() {
  for e in $(grep -lF "RADL_TASK=$PWD/$1${1:+:}" /proc/[0-9]*/environ); do
    e=${e#/proc/}
    echo "${e%/environ}"
  done
}
signal() {
  if [ -f elsewhere ] && { [ -z "$1" ] || [ -f "$1.elsewhere" ]; }; then /bin/sh ./elsewhere "$1" "$2"; fi
  g=$(leader "$1") && kill "-$2" "-$g"
  if [ -n "$g" ] && [ "$2" != KILL ]; then return; fi
  for i in 1 2 3; do
    left=$(marked "$1")
    [ -n "$left" ] || break
    kill "-$2" $left
    [ "$2" = KILL ] || break
  done
}
)sh";

// What a process has left as its exit status; -1 when that is none: its disk may have been full.
int exit_status(const std::string& text);
// How a process ended, for a message: "ended with exit status 3", "was killed by SIGSEGV (Segmentation
// fault)".
std::string end_text(int exit);

}  // namespace radl::jobs
