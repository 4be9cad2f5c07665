#include "runtime/steps/farm/slurm_agent.h"

#include <fmt/format.h>

#include "common/replaced.h"
#include "common/shell_quote.h"
#include "runtime/steps/farm/agent.h"
#include "runtime/steps/farm/slurm_clerk.h"

namespace radl::farm {
namespace {

// For the agent, and for `elsewhere`. Slurm's output is in our format and language, whatever the user's
// variables say; only those that choose the cluster stay.
constexpr const char* kCommon = R"sh(LC_ALL=C
export LC_ALL
for v in $(env | sed -n 's/^\(\(SBATCH\|SQUEUE\|SACCT\|SCANCEL\|SINFO\|SLURM\)_[A-Z0-9_]*\)=.*/\1/p'); do
  case $v in SLURM_CONF|SLURM_CLUSTERS) ;; *) unset "$v" ;; esac
done
me=$(id -un) || exit 1
mkdir -p farm || exit 1
if [ ! -s farm/name ]; then
  echo "radl-$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')" > farm/name.$$ && ln farm/name.$$ farm/name
  rm -f farm/name.$$
fi
read -r name < farm/name || exit 1
# Array, index, state, machine, reason and job of each of the farm's tasks that Slurm still knows.
queue() {
  squeue -h -r -t all -u "$me" -o '%j|%K|%T|%N|%r|%F' > "$1.all" || return 1
  awk -F'|' -v p="$name." 'index($1, p) == 1 {
    if ($2 !~ /^[0-9]+$/) $2 = 1
    gsub(/[ \t]/, "_", $5)
    print substr($1, length(p) + 1), $2, $3, ($4 == "" ? "-" : $4), ($5 == "" ? "-" : $5), $6
  }' "$1.all" > "$1"
}
# What scancel calls an attempt; nothing: Slurm does not have it yet.
job_of() {
  a= n= j=
  read -r a n < farm/$1/slurm && read -r j < farm/arrays/$a/job && [ "$j" != 0 ] || return 1
  if [ -e farm/arrays/$a/single ]; then echo "$j"; else echo "${j}_$n"; fi
} 2> /dev/null
)sh";

// elsewhere NAME SIGNAL: NAME '' is all, and with KILL it returns when none is left.
constexpr const char* kElsewhere = R"sh(cd "${0%/*}" || exit 1
. ./slurm.sh
if [ -n "$1" ]; then
  if [ "$2" != KILL ]; then j=$(job_of "$1") && scancel --full --signal="$2" "$j"; exit; fi
  j=$(job_of "$1") || exit 0
  scancel --full --signal=KILL "$j"
  scancel "$j"
  exit
fi
rm -rf farm/new
q=farm/all.$$
trap 'rm -f $q $q.all' EXIT
i=0
while [ $i -lt 60 ]; do
  queue $q || exit 1
  left=$(awk '$3 !~ /^(ENDED_STATES)$/ { print $6 }' $q | sort -u)
  if [ -z "$left" ]; then rm -f ./*.elsewhere; exit 0; fi
  scancel --full --signal=KILL $left
  scancel $left
  i=$((i + 1))
  sleep 1
done
exit 1
)sh";

// Tells what is in farm/told: of each file the whole lines that are new.
constexpr const char* kTeller =
    R"sh(is_needed() { kill -0 $$ 2> /dev/null && [ -e farm/told/.agent.$$ ]; }  # the agent may be killed
tell() {
  seen=farm/seen.$$
  : > $seen
  while is_needed; do
    find farm/told -type f -exec wc -c {} + 2> /dev/null | awk -v seen=$seen '
      BEGIN { while ((getline line < seen) > 0) { split(line, p, " "); at[p[2]] = p[1] } }
      $2 != "total" && $1 > at[$2] + 0 { print $1, at[$2] + 0, $2 }' > $seen.new
    while read -r size at f; do
      tail -c +$((at + 1)) "$f" | head -c $((size - at)) > $seen.part
      n=$(wc -l < $seen.part)
      [ "$n" -gt 0 ] || continue
      head -n "$n" $seen.part | tee $seen.whole
      echo "$((at + $(wc -c < $seen.whole))) $f" >> $seen
      case $f in */.*) ;; *) if grep -q '^end ' $seen.whole; then mv "$f" farm/ended/; fi ;; esac
    done < $seen.new 2> /dev/null
    sleep 1
  done
}
)sh";

constexpr const char* kMain =
    R"sh(# The end of the attempt is in its lines, or the clerk still observes the attempt. An earlier agent may have
# told the end to a connection that was lost.
is_followed() {
  if grep -q '^end ' farm/told/$1 || [ -e farm/new/$1 ]; then return 0; fi
  for f in farm/arrays/*/new.$1; do if [ -e "$f" ]; then return 0; fi; done
  return 1
}
mkdir -p farm/logs farm/told farm/ended farm/new farm/arrays farm/kill checkpoints || exit 1
rm -f farm/told/.agent.*  # an earlier agent whose connection is gone ends by that
: > farm/told/.agent.$$ || exit 1
tab=$(printf '\t')
echo ready
tell & t=$!
clerk < /dev/null > /dev/null 2>&1 & c=$!
trap 'kill $t $c 2> /dev/null; rm -f farm/seen.$$* farm/queue.$$* farm/nodes.$$* farm/groups.$$ farm/told/.agent.$$' EXIT
i=0
while IFS= read -r line; do
  what=${line%% *} rest=${line#* }
  id=${rest%% *}
  case $what in
  start)
    if [ ! -e farm/$id ]; then
      i=$((i + 1))
      if mkdir -p farm/$id/results checkpoints/${id%.*} && printf '%b' "${rest#* }" > farm/$id/script &&
        : > farm/told/$id && : > $id.elsewhere &&
        echo "$i $(sed -n '/^#SBATCH /!q;s///p' farm/$id/script | tr '\n' '\t' | sed 's/\t$//')" > farm/new/.$id && mv farm/new/.$id farm/new/$id; then :
      else
        say "end $id 126 "
      fi
    fi ;;
  stop) if [ ! -e farm/$id/exit ] && [ ! -e farm/$id/gone ]; then echo "${rest#* }" > farm/kill/.$id && mv farm/kill/.$id farm/kill/$id; fi ;;
  check)
    if [ -e farm/told/$id ] && is_followed $id; then :
    elif [ -e farm/$id/gone ]; then say "gone $id $(cat farm/$id/gone)"
    elif [ -e farm/$id/exit ]; then r= o=; read -r r o < farm/$id/exit && say "end $id $r $o"
    else
      mkdir -p farm/$id/began
      say "gone $id NOT_SUBMITTED"
    fi ;;
  keep)
    for f in farm/told/* farm/ended/*; do
      id=${f##*/}
      [ -e "$f" ] || continue
      rm -f farm/$id/queued
      case " $rest " in
      *" $id "*) case $f in farm/ended/*) mv "$f" farm/told/ ;; esac ;;
      *)
        if [ -e farm/$id/exit ] || [ -e farm/$id/gone ]; then rm -f "$f"; else echo KILL > farm/kill/.$id && mv farm/kill/.$id farm/kill/$id; fi ;;
      esac
    done ;;
  drop) rm -rf farm/$id/results farm/parents/$id farm/images/$id farm/told/$id farm/ended/$id ;;
  esac
done
)sh";

// The folder, as a word of the jobs' script.
constexpr const char* kStart = R"sh(. ./slurm.sh
quoted="'$(printf %s "$PWD" | sed "s/'/'\\\\''/g")'"
)sh";

// The text as a file of the current folder that changes at once: another machine may be reading it.
std::string file_script(const std::string& name, const std::string& text) {
  return fmt::format("cat > {0}.new <<'END_OF_FILE'\n{1}END_OF_FILE\nmv {0}.new {0} || exit 1\n", name, text);
}

}  // namespace

std::string slurm_agent_script(const std::string& folder, const std::string& metrics,
                               const SlurmSettings& settings) {
  std::string common = kCommon;
  if (!settings.path.empty())
    common = fmt::format("PATH={}:$PATH\nexport PATH\n", shell_quote(settings.path)) + common;
  return fmt::format("cd {} || exit 1\numask 077\nmkdir -p farm || exit 1\n{}{}{}", folder,
                     file_script("farm/run", run_script(metrics, true)), file_script("slurm.sh", common),
                     file_script("elsewhere", replaced(kElsewhere, "ENDED_STATES", kSlurmEnded))) +
         kStart + kTeller + slurm_clerk_script(settings) + kMain;
}

}  // namespace radl::farm
