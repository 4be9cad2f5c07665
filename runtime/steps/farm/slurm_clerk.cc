#include "runtime/steps/farm/slurm_clerk.h"

#include "common/replaced.h"
#include "common/shell_quote.h"

namespace radl::farm {
namespace {

// Hands attempts to Slurm, asks Slurm about them, and cancels. It may take long, and prints nothing itself.
constexpr const char* kClerk = R"sh(say() { echo "$*" >> farm/told/.agent.$$; }
trouble() {
  if [ "$troubled" != "$1" ]; then troubled=$1; say "trouble $1"; fi
}
# ID STATUS: an end that no process of the attempt has written down.
end_it() {
  mkdir farm/$1/began 2> /dev/null
  [ -e farm/$1/exit ] || { echo "$2 " > farm/$1/exit.new && mv farm/$1/exit.new farm/$1/exit; }
  tell_end "$1"
}
tell_end() {
  r= o=
  read -r r o < farm/$1/exit
  say "end $1 $r $o"
  mv farm/told/$1 farm/ended/ 2> /dev/null
  rm -f $1.elsewhere farm/new/$1 farm/kill/$1 farm/$1/missed
}
gone() {
  echo "$2" > farm/$1/gone
  say "gone $1 $2"
  mv farm/told/$1 farm/ended/ 2> /dev/null
  rm -f $1.elsewhere farm/kill/$1 farm/$1/missed
}
limits() {
  most=$(scontrol show config 2> /dev/null | sed -n 's/^MaxArraySize *= *\([0-9]*\).*/\1/p')
  [ -n "$most" ] || return 1
  most=$((most - 1))
  [ $most -le 1000 ] || most=1000
}
# An array of each kind of attempt that is new.
submit() {
  [ "$tick" -ge "$submit_at" ] || return 0
  set -- farm/new/*
  [ -e "$1" ] || return 0
  if [ -z "$most" ] && ! limits; then trouble 'the controller of Slurm does not answer'; submit_at=$((tick + 5)); return 0; fi
  grep -H '' farm/new/* 2> /dev/null | sed 's,^farm/new/\([^:]*\):\([0-9]*\) *,\2 \1\t,' | sort -n | cut -d' ' -f2- |
    awk -F'\t' -v most=$most '{
      id = $1
      options = substr($0, length(id) + 2)
      if (!(options in count)) order[++kinds] = options
      if (count[options] == (most > 0 ? most : 1)) { print ids[options] "\t" options; count[options] = 0; ids[options] = "" }
      ids[options] = ids[options] (count[options]++ ? " " : "") id
    } END { for (i = 1; i <= kinds; i++) if (count[order[i]]) print ids[order[i]] "\t" order[i] }' > farm/groups.$$
  while IFS="$tab" read -r ids options; do
    submit_group "$ids" "$options" || break
  done < farm/groups.$$
}
# Options without --exclude, which is the last one, unless another machine is up.
options_for_up() {
  case $1 in
  *"$tab--exclude="*)
    for m in $(cat farm/up); do
      case ,${1##*--exclude=}, in *",$m,"*) ;; *) printf %s "$1"; return ;; esac
    done ;;
  esac
  printf %s "${1%%"$tab"--exclude=*}"
}
submit_group() {
  k=$((k + 1))
  set -- "$1" "$(options_for_up "$2")"
  array=$(date +%s)-$$-$k folder=farm/arrays/$array
  mkdir $folder || return 1
  n=0
  for id in $1; do
    mv farm/new/$id $folder/new.$id 2> /dev/null || continue  # an earlier connection's agent has it
    n=$((n + 1))
    echo $id >> $folder/ids
    echo "$array $n" > farm/$id/slurm
  done
  [ $n -gt 0 ] || { rm -rf $folder; return 0; }
  if [ $most -le 0 ]; then : > $folder/single; set -- "$1" "$2" ""; else set -- "$1" "$2" "--array=1-$n"; fi
  {
    echo '#!/bin/sh'
    printf %s "$2" | tr '\t' '\n' | sed 's/^/#SBATCH /'
    echo
    printf 'cd %s || exit 97\n' "$quoted"
    printf 'a=%s\n' "$array"
    cat <<'END'
id=$(sed -n "${SLURM_ARRAY_TASK_ID:-1}p" farm/arrays/$a/ids) && [ -n "$id" ] || exit 97
read -r owner n < farm/$id/slurm && [ "$owner" = $a ] || exit 0
mkdir farm/$id/began 2> /dev/null || exit 0
exec env RADL_TASK="$PWD/$id:" /bin/sh farm/run "$id"
END
  } > $folder/script
  if job=$(sbatch --parsable --no-requeue $3 --job-name="$name.$array" --output=/dev/null $folder/script 2> $folder/why); then
    job=${job##*"$newline"} job=${job%%;*}  # a site's own sbatch may print more
    case $job in ''|*[!0-9]*) queue_at=$tick; return 1 ;; esac  # observe finds it by its name
    echo $job > $folder/job.new && mv $folder/job.new $folder/job
    trouble ''
    return 0
  fi
  why=$(grep . $folder/why | tail -n 1 | sed 's/^sbatch: error: //')
  case $(cat $folder/why) in
  *'Requested time limit'*) ;;
  *imed\ out*|*nable\ to\ contact*|*ransmi*|*onnection*|*emporarily*|*ransport*|*MaxJobCount*|*limit*|*Limit*|*slurm_receive*|*itigate*)
    submit_at=$((tick + 5)) queue_at=$tick
    trouble "Slurm takes no jobs: $why"
    return 1 ;;
  esac
  case $2 in *--exclude=*)  # no other machine is suitable
    for id in $(cat $folder/ids); do
      mv $folder/new.$id farm/new/$id
      sed 's/\t--exclude=.*//' farm/new/$id > farm/new/.$id && mv farm/new/.$id farm/new/$id
    done
    rm -rf $folder
    return 0 ;;
  esac
  for id in $(cat $folder/ids); do
    cat $folder/why > farm/logs/$id.log
    end_it $id 1
  done
  rm -rf $folder
}
# What Slurm says of the attempts whose end is not told.
observe() {
  [ "$tick" -ge "$queue_at" ] || return 0
  queue_at=$((tick + 5))
  q=farm/queue.$$
  [ -n "$(ls farm/told)" ] || [ -n "$(ls farm/arrays)" ] || return 0
  if ! queue $q 2> $q.why; then trouble "Slurm does not answer: $(tail -n 1 $q.why)"; return 0; fi
  case $troubled in *'does not answer'*) trouble '' ;; esac
  [ -e farm/arrays ] && for folder in farm/arrays/*; do
    [ -d "$folder" ] && [ ! -e $folder/job ] && adopt ${folder##*/}
  done
  for f in farm/told/*; do
    id=${f##*/}
    [ -e "$f" ] || continue
    a= n=
    read -r a n 2> /dev/null < farm/$id/slurm || continue
    [ -e farm/arrays/$a/job ] && echo "$id $a $n"
  done > $q.ours
  awk 'FILENAME == ARGV[1] { at[$1 " " $2] = $3 " " $4 " " $5; next }
    { k = $2 " " $3; print $1, (k in at ? at[k] : "MISSING - -") }' $q $q.ours > $q.states
  while read -r id state machine why; do
    case $state in
    PENDING|CONFIGURING|REQUEUE*|SPECIAL_EXIT)
      [ -e farm/$id/began ] || say_queued $id "$why" ;;
    ENDED_STATES|MISSING)
      over $id $state $machine ;;
    *) rm -f farm/$id/missed ;;
    esac
  done < $q.states
  tidy
}
say_queued() {
  case $2 in -|None) set -- $1 queued ;; esac
  w=
  read -r w 2> /dev/null < farm/$1/queued
  [ "$w" = "$2" ] || { echo "$2" > farm/$1/queued; say "queued $1 $2"; }
}
# An array without a number: its agent ended before it had Slurm's answer, or the answer was lost.
adopt() {
  j=$(awk -v a=$1 '$1 == a { print $6; exit }' $q)
  if [ -n "$j" ]; then echo $j > farm/arrays/$1/job; return; fi
  if [ -e farm/arrays/$1/ids ]; then
    for id in $(cat farm/arrays/$1/ids); do
      a=
      read -r a n 2> /dev/null < farm/$id/slurm
      if [ "$a" != "$1" ]; then continue; fi
      if [ -e farm/$id/began ]; then echo 0 > farm/arrays/$1/job; continue; fi
      rm -f farm/$id/slurm  # a job that Slurm has after all does not run it
      mv farm/arrays/$1/new.$id farm/new/$id 2> /dev/null
    done
  fi
  for f in farm/arrays/$1/new.*; do
    id=${f##*/new.}
    [ -e "$f" ] && [ ! -e farm/$id/slurm ] && mv "$f" farm/new/$id
  done
  [ -e farm/arrays/$1/job ] || rm -rf farm/arrays/$1
}
# Slurm has ended the attempt, or does not know it any more. On a shared file system what a machine has
# written may come late.
over() {
  ls farm/$1 > /dev/null
  state=$2
  if [ -e farm/$1/exit ]; then
    case $state in
    TIMEOUT|OUT_OF_MEMORY|DEADLINE) echo "Slurm ended it: $state" >> farm/logs/$1.log ;;
    NODE_FAIL|BOOT_FAIL|PREEMPTED|REVOKED) gone $1 "$state $3"; return ;;
    MISSING|CANCELLED)
      # Ended by a signal that is not radlc's: somebody cancelled the job, or slurmd found that its controller
      # does not know it.
      r= o=
      read -r r o < farm/$1/exit
      case $r in 137|143) [ -e farm/$1/asked ] || [ -e farm/kill/$1 ] || { gone $1 "$state $3"; return; } ;; esac ;;
    esac
    tell_end $1
    return
  fi
  if [ -e farm/kill/$1 ] && [ "$state" != COMPLETED ]; then end_it $1 137; return; fi
  now=$(date +%s) since=
  read -r since 2> /dev/null < farm/$1/missed
  if [ -z "$since" ]; then echo $now > farm/$1/missed; return; fi
  [ $((now - since)) -ge 10 ] || return
  if [ $state = MISSING ]; then
    j=$(job_of $1) && told=$(sacct -n -P -X -o State -j "$j" 2> /dev/null | head -n 1)
    case ${told%% *} in ''|PENDING|RUNNING|COMPLETING|CONFIGURING) ;; *) state=${told%% *} ;; esac
  fi
  if mkdir farm/$1/began 2> /dev/null; then
    case $state in FAILED|COMPLETED) state=NOT_BEGUN ;; esac
  fi
  gone $1 "$state $3"
}
# Arrays of which nothing is awaited.
tidy() {
  for folder in farm/arrays/*; do
    [ -e $folder/job ] || continue
    used=
    for id in $(cat $folder/ids); do if [ -e farm/told/$id ] || [ -e farm/kill/$id ]; then used=1; break; fi; done
    [ -n "$used" ] || rm -rf $folder
  done
}
cancel() {
  for f in farm/kill/*; do
    [ -e "$f" ] || return 0
    id=${f##*/} signal=
    read -r signal < $f || continue
    if [ -e farm/$id/exit ]; then rm -f $f; continue; fi
    if rm farm/new/$id 2> /dev/null; then end_it $id 143; continue; fi
    j=$(job_of $id) || { [ -e farm/told/$id ] || rm -f $f; continue; }
    : > farm/$id/asked
    if [ "$signal" = KILL ]; then
      [ ! -e farm/$id/killed ] || continue
      scancel --full --signal=KILL "$j" 2> /dev/null
      scancel "$j" 2> /dev/null && : > farm/$id/killed
      queue_at=$tick
    elif mkdir farm/$id/began 2> /dev/null; then
      if scancel "$j" 2> /dev/null; then end_it $id 143; else rmdir farm/$id/began; fi
    else
      scancel --full --signal="$signal" "$j" 2> /dev/null && rm -f $f
    fi
  done
}
capacity() {
  [ "$tick" -ge "$capacity_at" ] || return 0
  if ! sinfo -h -N PARTITION -o '%N|%t|%c|%m|%G|%P' > farm/nodes.$$ 2> farm/nodes.$$.why; then
    trouble "Slurm does not answer: $(tail -n 1 farm/nodes.$$.why)"
    capacity_at=$((tick + 5))
    return 0
  fi
  case $troubled in *'does not answer'*) trouble '' ;; esac
  capacity_at=$((tick + 30))
  now=$(awk -F'|' -v all=ALL '
    { row[NR] = $0; if ($6 ~ /\*$/) marked = 1 }
    END {
      for (i = 1; i <= NR; i++) {
        split(row[i], f, "|")
        if ((marked && !all && f[6] !~ /\*$/) || f[1] in had) continue
        had[f[1]] = 1
        gpus = 0
        m = split(f[5], gres, ",")
        for (g = 1; g <= m; g++) if (gres[g] ~ /^gpu[:(]/ || gres[g] == "gpu") {
          sub(/\(.*/, "", gres[g])
          parts = split(gres[g], p, ":")
          gpus += p[parts] ~ /^[0-9]+$/ ? p[parts] : 1
        }
        memory = f[4] + 0
        cpus = f[3] + 0
        kind = sprintf("%d:%.0f:%d", cpus, memory * 1048576, gpus)
        if (!(kind in known)) { known[kind] = 1; kinds = kinds " " kind }
        if (f[2] ~ /^(idle|mix|alloc|comp|plnd|resv|boot)[~#%$@+-]*$/) { c += cpus; b += memory; d += gpus; print f[1] > "farm/up.new" }
      }
      printf "%d %.0f %d%s\n", c, b * 1048576, d, kinds
    }' farm/nodes.$$)
  mv farm/up.new farm/up 2> /dev/null || : > farm/up
  [ "$now" = "$offered" ] || { offered=$now; say "capacity $now"; }
}
clerk() {
  tick=0 submit_at=0 queue_at=0 capacity_at=0 k=0 most= troubled= offered= told_cancelled=
  newline='
'
  while is_needed; do
    capacity
    cancel
    submit
    observe
    if [ -z "$told_cancelled" ] && [ -e cancelled ]; then told_cancelled=1; say cancelled; fi
    sleep 1
    tick=$((tick + 1))
  done
}
)sh";

}  // namespace

std::string slurm_clerk_script(const SlurmSettings& settings) {
  const std::string partition = settings.partition.empty() ? "" : "-p " + shell_quote(settings.partition);
  const std::string script = replaced(replaced(kClerk, "ENDED_STATES", kSlurmEnded), "all=ALL",
                                      partition.empty() ? "all=" : "all=1");
  return replaced(script, "PARTITION", partition);
}

}  // namespace radl::farm
