#include "runtime/clouds/hosts/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>

#include "common/shell_quote.h"
#include "common/text.h"
#include "runtime/net/node_path.h"
#include "runtime/net/sudo.h"

namespace radl::hosts {
namespace {

using nlohmann::json;

constexpr int kTakenByOthers = 3;
constexpr std::chrono::seconds kLook{20}, kTake{30};
constexpr std::chrono::minutes kGiveBack{10};

// Variable: BLOB. A line "NAME VALUE" for each fact, "disk NAME BYTES", and the marker's lines after "marker
// ". Every apply runs it, so what the shell can read by itself takes no process.
constexpr const char* kVisitScript = R"sh(set -eu
say() { printf '%s %s\n' "$1" "$2"; }
case $HOME in /*) ;; *) echo "the login has no home folder, HOME is '$HOME'" >&2; exit 4;; esac
nl='
'
f=$(uname -sm)
kernel=${f%% *}; say os "$kernel"
[ "$kernel" = Linux ] || exit 0
say architecture "${f#* }"
say home "$HOME"
user=$(id -un 2>/dev/null) || user=$(id -u); say user "$user"
read -r name < /proc/sys/kernel/hostname; say hostname "$name"
set -- ${SSH_CONNECTION:-}; say address "${3:-}"
n=$(getconf _NPROCESSORS_ONLN); say cpu_count "$n"
total=0
while read -r k n v; do
  case $k in MemTotal:) total=$((n * 1024)); break;; esac
done < /proc/meminfo
# What is built in; the kernel counts what it keeps for itself out of MemTotal.
b=/sys/devices/system/memory
if [ -r $b/block_size_bytes ]; then
  read -r size < $b/block_size_bytes
  n=0
  for f in $b/memory[0-9]*/online; do
    v=0
    { read -r v < "$f"; } 2>/dev/null || v=0
    [ "$v" != 1 ] || n=$((n + 1))
  done
  n=$((n * 0x$size)); [ "$n" -le "$total" ] || total=$n
fi
say memory_bytes "$total"
gpus=0; memory=0; vendor=; model=
for d in /sys/bus/pci/devices/*; do
  [ -r "$d/class" ] && [ -r "$d/vendor" ] || continue
  read -r c < "$d/class"; read -r v < "$d/vendor"
  case $v in 0x10de) v=NVIDIA;; 0x1002) v=AMD;; *) continue;; esac
  case $c in 0x0300*|0x0302*|0x0380*) gpus=$((gpus + 1)); vendor=$v;; esac
done
if command -v nvidia-smi >/dev/null 2>&1 && list=$(nvidia-smi --query-gpu=memory.total,name --format=csv,noheader,nounits 2>/dev/null); then
  n=$(printf '%s\n' "$list" | grep -c .) || n=0
  if [ "$n" -gt 0 ]; then
    gpus=$n; vendor=NVIDIA; model=${list#*, }; model=${model%%"$nl"*}
    memory=$(printf '%s\n' "$list" | sort -n | head -n 1); memory=${memory%%,*}
    case $memory in ''|*[!0-9]*) memory=0;; esac
  fi
fi
say gpu_count "$gpus"; say gpu_memory_bytes "$((memory * 1048576))"; say gpu_vendor "$vendor"; say gpu_model "$model"
if [ -r /etc/os-release ]; then
  f=$(. /etc/os-release && printf '%s\n%s.' "${ID:-}" "${VERSION_ID:-}")
  f=${f%.}; say os_flavour "${f%%"$nl"*}"; say os_version "${f#*"$nl"}"
fi
f=$(df -P -k /); set -- ${f##*"$nl"}
say disk_bytes "$(($2 * 1024))"; say disk_free_bytes "$(($4 * 1024))"
for d in /sys/block/*; do
  [ -r "$d/size" ] || continue
  case ${d##*/} in loop*|ram*|zram*|dm-*|md*|sr*|fd*|nbd*) continue;; esac
  read -r n < "$d/size"; [ "$n" = 0 ] || say disk "${d##*/} $((n * 512))"
done
u=-
while read -r k v f; do
  case $k in Uid:) u=${f%%[!0-9]*}; break;; esac
done < /proc/self/status
if [ "$u" = 0 ]; then s=root; else s=$(sudo_state); fi
say sudo "$s"
m=$HOME/.radl/taken-by
if [ -e "$m" ]; then sed 's/^/marker /' "$m"; fi
f=$HOME/.ssh/authorized_keys
if [ -n "$BLOB" ] && [ -r "$f" ]; then
  while read -r v || [ -n "$v" ]; do
    case $v in *"$BLOB"*) say has_key yes; break;; esac
  done < "$f"
fi
)sh";

// Variables: INFRASTRUCTURE TOKEN ADDRESS KEY BLOB. What was not there before is recorded as made by us.
constexpr const char* kTakeScript = R"sh(
fail() { echo "$1" >&2; exit 1; }
t=; n=; made=
trap '' HUP
cd "$HOME"
m=.radl/taken-by; f=.ssh/authorized_keys
clean_up() {
  rm -f ${t:+"$t"} ${n:+"$n"}
  [ -e "$m" ] || case " $made " in *" folder "*) rmdir .radl 2>/dev/null;; esac
}
trap clean_up EXIT
ours() {
  o=$(sed -n 's/^token //p' "$m")
  [ "$o" = "$TOKEN" ] || { sed -n 's/^infrastructure //p' "$m"; exit 3; }
}
if [ -e "$m" ]; then ours; else
  [ -d .radl ] || made="$made folder"
  [ -d .ssh ] || made="$made ssh"
  [ -e "$f" ] || made="$made keys"
  [ -d .radl ] || mkdir .radl
  t=.radl/taken-by.$$
  printf 'radl 1\ninfrastructure %s\ntoken %s\naddress %s\nkey %s\nmade%s\n' \
    "$INFRASTRUCTURE" "$TOKEN" "$ADDRESS" "$BLOB" "$made" > "$t"
  ln "$t" "$m" 2>/dev/null || { [ -e "$m" ] || fail "~/$m cannot be created"; ours; }
  rm -f "$t"
fi
[ -d .ssh ] || mkdir .ssh
c=0
if [ -e "$f" ]; then c=$(grep -cF -- "$BLOB" "$f") || [ $? = 1 ] || fail "~/$f cannot be read"; fi
[ "$c" = 0 ] || exit 0
r=$f
if [ -e "$f" ]; then r=$(readlink -f "$f"); fi
n=$r.radl-$$
if [ -e "$r" ]; then
  cp -p "$r" "$n"
  { printf '%s\n' "$KEY"; cat "$r"; } > "$n"
else
  printf '%s\n' "$KEY" > "$n"
fi
mv -f "$n" "$r"
)sh";

// What runtime/steps/native/wireguard.cc has made: its argument is a file of /etc/wireguard.
constexpr const char* kTakeDownWireguard = R"sh(PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
n=${1%.*}
case $1 in *.conf)
  if [ -d /run/systemd/system ]; then systemctl disable -q "wg-quick@$n"; fi
  i=
  if command -v wg; then i=$(wg show interfaces); fi
  case " $i " in *" $n "*) wg-quick down "$n";; esac
  t=/etc/hosts.radl-$$
  cp -p /etc/hosts "$t"
  awk -v b="# BEGIN radlc $n" -v e="# END radlc $n" '$0 == b {s = 1} !s {print} $0 == e {s = 0}' /etc/hosts > "$t"
  mv -fT "$t" /etc/hosts || { cat "$t" > /etc/hosts; rm -f "$t"; }
esac
rm -f "/etc/wireguard/$1")sh";

// Variables: TOKEN BLOB PARTS PASSWORD TAKE_DOWN.
constexpr const char* kGiveBackScript = R"sh(
fail() { echo "$1" >&2; exit 1; }
n=
trap '' HUP
trap 'rm -f ${n:+"$n"}' EXIT
cd "$HOME"
m=.radl/taken-by; f=.ssh/authorized_keys
made=; owner=; is_ours=no; blobs=$BLOB
if [ -e "$m" ]; then owner=$(sed -n 's/^token //p' "$m"); fi
if [ "$owner" = "$TOKEN" ]; then
  is_ours=yes
  made=$(sed -n 's/^made//p' "$m")
  # The key that it was taken with, should another one be ours by now.
  o=$(sed -n 's/^key //p' "$m")
  blobs="$blobs $o"
fi
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@" < /dev/null
  elif sudo -n true 2>/dev/null < /dev/null; then sudo -n "$@" < /dev/null
  else [ -n "$PASSWORD" ] && printf '%s\n' "$PASSWORD" | sudo -k -S -p '' "$@"; fi
}
if [ $is_ours = yes ]; then
  for p in .radl/wireguard/*; do
    [ -f "$p" ] || continue
    as_root sh -euc "$TAKE_DOWN" sh "${p##*/}" >/dev/null 2>&1 ||
      fail "/etc/wireguard/${p##*/} cannot be removed as root (RADL_SUDO_PASSWORD, --ask-sudo-password)"
  done
  # Programs and trainings that still run carry this mark; a program that is asked may write a checkpoint.
  for s in TERM KILL; do
    i=0
    while [ $i -lt 100 ]; do
      left=
      for e in $(grep -lF "RADL_TASK=$HOME/.radl/jobs/" /proc/[0-9]*/environ 2>/dev/null); do
        e=${e#/proc/}
        left="$left ${e%/environ}"
      done
      [ -n "$left" ] || break 2
      if [ $i = 0 ] || [ $s = KILL ]; then kill -$s $left 2>/dev/null || :; fi
      i=$((i+1))
      sleep 0.1
    done
  done
  for p in $PARTS; do
    [ -e ".radl/$p" ] || continue
    chmod -R u+rwX ".radl/$p" 2>/dev/null || true
    # What a step made as root goes as root.
    rm -rf -- ".radl/$p" 2>/dev/null || sudo -n rm -rf -- "$HOME/.radl/$p" 2>/dev/null ||
      { [ -n "$PASSWORD" ] && printf '%s\n' "$PASSWORD" | sudo -k -S -p '' rm -rf -- "$HOME/.radl/$p" 2>/dev/null; } ||
      fail "~/.radl/$p cannot be removed: it belongs to root, and sudo asks for a password (RADL_SUDO_PASSWORD, --ask-sudo-password)"
  done
fi
for b in $blobs; do
  [ -e "$f" ] || continue
  c=$(grep -cF -- "$b" "$f") || [ $? = 1 ] || fail "~/$f cannot be read"
  [ "$c" != 0 ] || continue
  r=$(readlink -f "$f"); n=$r.radl-$$
  cp -p "$r" "$n"
  sed "\\|$b|d" "$r" > "$n"
  mv -f "$n" "$r"
done
case " $made " in *" keys "*) [ -s "$f" ] || rm -f "$f";; esac
# They stay where the user has put something into them.
case " $made " in *" ssh "*) rmdir .ssh 2>/dev/null || true;; esac
[ $is_ours = yes ] || exit 0
rm -f "$m"
case " $made " in *" folder "*) rmdir .radl 2>/dev/null || true;; esac
)sh";

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (static_cast<unsigned char>(c) >= 32 && c != 127) out += c;
  }
  return out;
}

std::string blob_of(const std::string& key_line) {
  std::istringstream words(key_line);
  std::string type, blob;
  words >> type >> blob;
  return blob;
}

std::string variables(const std::vector<std::pair<const char*, std::string>>& all) {
  std::string text = "set -eu\numask 077\n";
  for (const auto& [name, value] : all) text += fmt::format("{}={}\n", name, shell_quote(printable(value)));
  return text;
}

Result<ExecResult> run_script(Remote& remote, const std::string& script, std::chrono::milliseconds deadline,
                              const Stop& stop) {
  ExecOptions options;
  options.stdin_bytes = script;
  options.deadline = deadline;
  options.stop = stop;
  return remote.exec("exec /bin/sh -s", options);
}

std::string first_line(const ExecResult& result) {
  std::string line = printable(result.err.substr(0, result.err.find('\n')));
  return line.empty() ? fmt::format("the script ended with status {}", result.exit_status) : line;
}

bool is_number(std::string_view name) { return name.ends_with("_count") || name.ends_with("_bytes"); }

json number_of(const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? json(value) : json();
}

void take_line(Visit& visit, const std::string& line) {
  size_t space = std::min(line.find(' '), line.size());
  const std::string name = line.substr(0, space);
  const std::string value = printable(line.substr(std::min(space + 1, line.size())));
  if (name == "marker") {
    size_t end = std::min(value.find(' '), value.size());
    const std::string key = value.substr(0, end), held = value.substr(std::min(end + 1, value.size()));
    if (key == "infrastructure") visit.marker.infrastructure = held;
    if (key == "token") visit.marker.token = held;
    if (key == "address") visit.marker.address = held;
  } else if (name == "has_key") {
    visit.has_key = true;
  } else if (name == "disk") {
    size_t end = value.rfind(' ');
    visit.facts["disks"].push_back(
        {{"name", value.substr(0, end)}, {"bytes", number_of(value.substr(end + 1))}});
  } else if (is_number(name)) {
    visit.facts[name] = number_of(value);
  } else {
    visit.facts[name] = name == "os" ? to_lower(value) : value;
  }
}

}  // namespace

Result<Visit> visit(Remote& remote, const Stop& stop, const std::string& key_line) {
  const std::string script =
      fmt::format("BLOB={}\n{}", shell_quote(printable(blob_of(key_line))), kSudoState) + kVisitScript;
  auto ran = run_script(remote, script, kLook, stop);
  if (!ran) return ran.status();
  if (ran->exit_status != 0)
    return Status(Code::Unsupported, "its facts cannot be read: " + first_line(*ran));
  Visit made{json::object(), {}, false};
  made.facts["disks"] = json::array();
  std::istringstream lines(ran->out);
  for (std::string line; std::getline(lines, line);) take_line(made, line);
  const std::string os = made.facts.value("os", "");
  if (os != "linux") return Status(Code::Unsupported, fmt::format("it runs {}, but must run Linux", os));
  return made;
}

Status take(Remote& remote, const Marker& marker, const std::string& key_line, const Stop& stop) {
  auto ran = run_script(remote,
                        variables({{"INFRASTRUCTURE", marker.infrastructure},
                                   {"TOKEN", marker.token},
                                   {"ADDRESS", marker.address},
                                   {"KEY", key_line},
                                   {"BLOB", blob_of(key_line)}}) +
                            kTakeScript,
                        kTake, stop);
  if (!ran) return ran.status();
  if (ran->exit_status == 0) return {};
  if (ran->exit_status != kTakenByOthers) return invalid("it cannot be taken: " + first_line(*ran));
  return {Code::Conflict, fmt::format("it is taken by infrastructure '{}'",
                                      printable(ran->out.substr(0, ran->out.find('\n'))))};
}

Result<bool> takes_for_sudo(Remote& remote, const std::string& password, const Stop& stop) {
  auto ran = run_script(remote, sudo_takes(password) + "\n", kLook, stop);
  if (!ran) return ran.status();
  return ran->exit_status == 0;
}

Status give_back(Remote& remote, const std::string& token, const std::string& key_line,
                 const std::string& password, const Stop& stop) {
  std::string parts;
  for (const char* part : kNodeFolderParts) parts += (parts.empty() ? "" : " ") + std::string(part);
  auto ran = run_script(
      remote,
      variables({{"TOKEN", token}, {"BLOB", blob_of(key_line)}, {"PARTS", parts}, {"PASSWORD", password}}) +
          fmt::format("TAKE_DOWN={}\n", shell_quote(kTakeDownWireguard)) + kGiveBackScript,
      kGiveBack, stop);
  if (!ran) return ran.status();
  if (ran->exit_status == 0) return {};
  return invalid("it cannot be given back: " + first_line(*ran));
}

Status unmark(Remote& remote, const std::string& token, const Stop& stop) {
  constexpr const char* kScript =
      "m=$HOME/.radl/taken-by\n"
      "[ -e \"$m\" ] || exit 0\n"
      "[ \"$(sed -n 's/^token //p' \"$m\")\" != \"$TOKEN\" ] || rm -f \"$m\"\n";
  auto ran = run_script(remote, variables({{"TOKEN", token}}) + kScript, kLook, stop);
  if (!ran) return ran.status();
  return ran->exit_status == 0 ? Status() : invalid("its marker cannot be removed: " + first_line(*ran));
}

}  // namespace radl::hosts
