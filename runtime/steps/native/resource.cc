#include "runtime/steps/native/resource.h"

#include <fmt/format.h>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/manifest.h"

namespace radl::native {

namespace {

constexpr size_t kInAWord = 64 * 1024;

}  // namespace

// Callers run with errexit (see NativeRun): only commands in a condition or before `
// ` handle their own failure.
const char* const kLookPrelude = R"sh(PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
fail() { echo "$1" >&2; exit 1; }
say() { printf '%s\t%s\t%s\n' "$I" "$1" "$2"; }
# Fails where there is nothing.
say_kind() {
  if [ -L "$1" ]; then say kind link
  elif [ -f "$1" ]; then say kind file
  elif [ -d "$1" ]; then say kind directory
  elif [ -e "$1" ]; then say kind other
  else
    p=$1
    while [ ! -e "$p" ]; do
      p=${p%/*}
      [ -n "$p" ] || p=/
    done
    if [ -d "$p" ] && [ -x "$p" ]; then say kind absent; else say kind hidden; fi
    return 1
  fi
}
say_access() { say mode "$1"; say owner "$2"; say group "$3"; say size "$4"; say uid "$5"; say gid "$6"; }
say_path() {
  say_kind "$1" || return 0
  s=$(stat -c '%a %U %G %s %u %g' "$1")
  say_access $s
}
say_digest() {
  if [ ! -r "$1" ]; then say kind hidden; return; fi
  d=$(sha256sum < "$1")
  d=${d%% *}
  say sha256 "$d"
}
# The content as well, where it is short and not the one wanted.
say_content() {
  d=
  say_digest "$1"
  [ -n "$d" ] && [ "$d" != "$2" ] || return 0
  say_short "$1"
}
# Called in conditions too, where errexit is off.
say_short() {
  s=$(stat -L -c %s "$1") || return 1
  [ "$s" -le 131072 ] || return 0
  c=$(base64 < "$1") || return 1
  c=$(printf %s "$c" | tr -d '\n') || return 1
  say content "$c"
}
# look_paths [INDEX WANTED PATH]...: says what say_path, and of a file say_content, say of each; two programs
# for all of them. WANTED "-": nothing of its content. Fails where something went away meanwhile.
look_paths() {
  n=$# k=0 m=
  while [ $k -lt $n ]; do
    I=$1 w=$2 q=$3
    shift 3
    k=$((k + 3))
    if say_kind "$q"; then set -- "$@" "$q"; m="$m $I,$w"; fi
  done
  [ $# -gt 0 ] || return 0
  a=$(stat -c '%a %U %G %s %u %g' "$@") || return 1
  f=
  while read -r x; do
    q=$1
    shift
    m=${m# } o=${m%% *} m=${m#"$o"} I=${o%%,*} w=${o#*,}
    say_access $x
    [ "$w" != - ] && [ -f "$q" ] || continue
    if [ ! -r "$q" ]; then say kind hidden; continue; fi
    set -- "$@" "$q"
    f="$f $o"
  done <<RADL_ACCESS
$a
RADL_ACCESS
  [ $# -gt 0 ] || return 0
  a=$(sha256sum "$@") || return 1
  while IFS= read -r x; do
    q=$1
    shift
    f=${f# } o=${f%% *} f=${f#"$o"} I=${o%%,*} w=${o#*,} x=${x#\\}
    say sha256 "${x%% *}"
    [ "${x%% *}" = "$w" ] || say_short "$q" || return 1
  done <<RADL_DIGESTS
$a
RADL_DIGESTS
}
# look_tree FIRST FORMAT WANTED FILE...: says "same", or of each plain file its number, digest and access (what
# stat prints by FORMAT). WANTED has a line "DIGEST ACCESS" for each file.
look_tree() {
  k=$1 i=$1 f=$2 w=$3
  shift 3
  n=$# m= d= a= o=
  for p; do
    shift
    if [ ! -L "$p" ] && [ -f "$p" ]; then set -- "$@" "$p"; m="$m $i"; fi
    i=$((i + 1))
  done
  [ $# -gt 0 ] || return 0
  # A name with odd characters comes alone: sha256sum would print it in another way.
  if [ $# = 1 ]; then d=$(sha256sum < "$1"); else d=$(sha256sum "$@"); fi
  a=$(stat -c "$f" "$@")
  while IFS= read -r x && IFS= read -r y <&3; do
    o="$o${x%% *} $y
"
  done <<RADL_DIGESTS 3<<RADL_ACCESS
$d
RADL_DIGESTS
$a
RADL_ACCESS
  if [ $# = $n ] && [ "$o" = "$w" ]; then say "same$k" yes; return; fi
  set -- $m
  while [ $# -gt 0 ] && IFS= read -r x; do say "$1" "$x"; shift; done <<RADL_FOUND
$o
RADL_FOUND
}
look_link() {
  [ -L "$3" ] || return 0
  t=$(readlink "$3")
  if [ "$t" = "$2" ]; then say "$1" same; else say "$1" other; fi
}
)sh";

const char* const kChangePrelude = R"sh(PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
umask 022
fail() { echo "$1" >&2; exit 1; }
# $t, a new file or folder, goes away with this shell unless it has taken its place.
clean_up() {
  t=
  trap '[ -z "$t" ] || rm -rf -- "$t"' EXIT
  trap 'exit 143' HUP INT TERM
}
# $t: a new file beside $1, of nobody else's use. $N is random: nobody can have made it before.
begin_file() {
  clean_up
  umask 077
  set -C
  : > "$1.radl-$N"
  t=$1.radl-$N
  set +C
}
# $t: a new folder in the folder $1.
begin_folder() { clean_up; t=$(mktemp -d "$1/.radl-XXXXXX"); }
# $t becomes the staged file $1, whose SHA-256 is $2; it belongs to whoever runs this.
take_staged() {
  if [ -O "$1" ]; then mv -f "$1" "$t"; else cp "$1" "$t"; fi
  d=$(sha256sum < "$t")
  [ "${d%% *}" = "$2" ] || fail "it was changed while it was sent"
}
)sh";

std::string Item::text(const char* property, const std::string& otherwise) const {
  if (!has(property)) return otherwise;
  const Json& value = resource->properties[property];
  if (value.is_string()) return value.get<std::string>();
  return value.dump();
}

double Item::number(const char* property, double otherwise) const {
  if (!has(property)) return otherwise;
  const Json& value = resource->properties[property];
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr) : otherwise;
}

bool Item::flag(const char* property, bool otherwise) const {
  if (!has(property)) return otherwise;
  const Json& value = resource->properties[property];
  if (value.is_boolean()) return value.get<bool>();
  std::string word = value.is_string() ? value.get<std::string>() : "";
  return word == "yes" || word == "true";
}

std::string said(const Seen& seen, const std::string& name) {
  auto found = seen.find(name);
  return found == seen.end() ? "" : found->second;
}

Status plain_name(const Item& item, std::string_view also) {
  const std::string& name = item.resource->name;
  bool good = !name.empty() && name[0] != '-';
  for (char c : name)
    good &= std::isalnum(static_cast<unsigned char>(c)) || also.find(c) != std::string_view::npos;
  return good ? Status() : invalid(item.label() + ": not a name that can stand here");
}

std::vector<std::string> list_of(const Item& item, const char* property) {
  std::vector<std::string> all;
  if (!item.has(property)) return all;
  const Json& value = item.resource->properties[property];
  if (value.is_string()) return {value.get<std::string>()};
  for (const auto& one : value) all.push_back(one.get<std::string>());
  return all;
}

Status hidden(const Item& item, const Facts& facts) {
  return {Code::Invalid,
          fmt::format("{}: user '{}' may not look at it on the node, and has no passwordless sudo",
                      item.label(), facts.user)};
}

std::string short_digest(const std::string& sha256) {
  return sha256.empty() ? "" : "sha256:" + sha256.substr(0, 12);
}

Change change(const Item& item, std::string what, Json before, Json after, std::string diff) {
  return {item.label(), std::move(what), std::move(before), std::move(after), std::move(diff)};
}

void plan_access(const Item& item, const Seen& seen, const std::string& wanted_mode, const std::string& path,
                 Work& work, bool keeps) {
  std::string kind = said(seen, "kind"), set_mode;
  bool there = kind == "file" || kind == "directory";
  if (!wanted_mode.empty()) {
    auto octal = [](const std::string& text) {
      return fmt::format("{:04o}", std::strtoul(text.c_str(), nullptr, 8));
    };
    std::string wanted = octal(wanted_mode), now = there ? octal(said(seen, "mode")) : "";
    if (now != wanted) work.changes.push_back(change(item, "mode", there ? Json(now) : Json(), wanted));
    set_mode = fmt::format("chmod {} {}\n", wanted, path);
  }
  for (const char* whose : {"owner", "group"}) {
    bool owner = std::string_view(whose) == "owner";
    const char* command = owner ? "chown" : "chgrp";
    std::string wanted = item.text(whose), now = said(seen, whose),
                number = said(seen, owner ? "uid" : "gid");
    if (!wanted.empty()) {
      if (!there || (now != wanted && number != wanted))
        work.changes.push_back(change(item, whose, there ? Json(now) : Json(), wanted));
      work.script += fmt::format("{} {} {}\n", command, shell_quote(wanted), path);
    } else if (keeps && there) {
      work.script += fmt::format("{} {} {}\n", command, number, path);
    }
  }
  work.script += set_mode;  // last: a new owner takes away the bits that run a file as its owner
}

Result<std::string> local_source(const Item& item, const char* property) {
  std::string path = item.text(property), planned = item.text((std::string(property) + "_sha256").c_str());
  auto digest = path_digest(path);
  if (!digest) return std::move(digest).status().at(item.label());
  if (!planned.empty() && *digest != planned) {
    return Status(Code::Conflict,
                  fmt::format("{}: '{}' is not what it was when the plan was made", item.label(), path))
        .with_hint("plan again");
  }
  return digest;
}

std::string make_parent(const std::string& path) {
  std::string folder = shell_path(parent_path(path));
  return fmt::format("[ -d {0} ] || mkdir -p {0}\n", folder);
}

std::string replace_file(const std::string& path) {
  return fmt::format("mv -fT \"$t\" {}\nt=\n", shell_path(path));
}

std::string write_bytes(const std::string& content, const std::string& path) {
  // A word of the script that the shell itself writes takes no process.
  if (content.size() <= kInAWord && content.find('\0') == std::string::npos)
    return fmt::format("printf %s {} > {}\n", shell_quote(content), path);
  std::string text = base64_encode(content), lines;
  for (size_t i = 0; i < text.size(); i += 76) lines += text.substr(i, 76) + "\n";
  return fmt::format("base64 -d > {} <<'RADL_BYTES'\n{}RADL_BYTES\n", path, lines);
}

const Kind* find_kind(const std::string& type) {
  static const std::map<std::string, std::unique_ptr<Kind>> kinds = [] {
    std::map<std::string, std::unique_ptr<Kind>> all;
    all["file"] = make_file_kind();
    all["directory"] = make_directory_kind();
    all["package"] = make_package_kind();
    all["command"] = make_command_kind();
    all["service"] = make_service_kind();
    all["user"] = make_user_kind();
    all["download"] = make_download_kind();
    all["upload"] = make_upload_kind();
    all["mount"] = make_mount_kind();
    all["wait_for"] = make_wait_for_kind();
    all["dataset"] = make_dataset_kind();
    all["elastic"] = make_elastic_kind();
    all["wireguard_key"] = make_wireguard_key_kind();
    all["wireguard"] = make_wireguard_kind();
    return all;
  }();
  auto found = kinds.find(type);
  return found == kinds.end() ? nullptr : found->second.get();
}

}  // namespace radl::native
