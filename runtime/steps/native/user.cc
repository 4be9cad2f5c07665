// user: an account and the keys that may log in to it.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

class UserKind : public Kind {
 public:
  bool changes_machine() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    if (Status s = plain_name(item, "-._"); !s.ok()) return s;
    std::string text = fmt::format(R"sh(n={}
r=0
e=$(getent passwd "$n") || r=$?
case $r in 0|2) ;; *) fail "getent: exit status $r";; esac
h=
if [ $r = 0 ]; then
  say entry "$e"
  g=$(id -gn "$n")
  say group "$g"
  g=$(id -Gn "$n")
  say groups "$g"
  h=${{e%:*}}
  h=${{h##*:}}
  if [ -d "$h" ]; then say home yes; fi
fi
f=$h/.ssh/authorized_keys
has_line() {{
  r=0
  grep -qxF -e "$1" "$f" || r=$?
  [ $r -le 1 ] || fail "grep: exit status $r"
  return $r
}}
if [ -n "$h" ] && [ -f "$f" ]; then
:
)sh",
                                   shell_quote(item.resource->name));
    auto keys = list_of(item, "authorized_keys");
    for (size_t i = 0; i < keys.size(); ++i)
      text += fmt::format("if has_line {}; then say key{} yes; fi\n", shell_quote(keys[i]), i);
    return text + "fi\n";
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override;

 private:
  static void plan_home(const Item& item, const Seen& seen, Work& work);
  static void plan_keys(const Item& item, const Seen& seen, Work& work);
};

Result<Work> UserKind::plan(const Item& item, const Seen& seen, const Facts&) const {
  Work work;
  std::string name = shell_quote(item.resource->name), entry = said(seen, "entry");
  bool there = !entry.empty();
  if (item.text("state", "present") == "absent") {
    if (!there) return work;
    work.changes.push_back(change(item, "state", "present", "absent"));
    work.script = fmt::format("userdel {}\n", name);
    return work;
  }
  std::vector<std::string> fields;
  std::istringstream parts(entry);
  for (std::string field; std::getline(parts, field, ':');) fields.push_back(field);
  fields.resize(7);
  std::string home = item.text("home");
  if (!there) {
    work.changes.push_back(change(item, "state", "absent", "present"));
    if (!home.empty()) work.script += make_parent(home);
    work.script += "useradd -m";
    if (item.flag("system", false)) work.script += " -r";
  }
  std::string modify;
  auto option = [&](const char* property, const char* flag, const std::string& now,
                    const std::string& wanted) {
    if (wanted.empty() || (there && now == wanted)) return;
    if (there) work.changes.push_back(change(item, property, now, wanted));
    (there ? modify : work.script) += fmt::format(" {} {}", flag, shell_quote(wanted));
  };
  option("uid", "-u", fields[2], item.has("uid") ? fmt::format("{:.0f}", item.number("uid", 0)) : "");
  option("group", "-g", said(seen, "group"), item.text("group"));
  option("home", "-d", fields[5], home);
  option("shell", "-s", fields[6], item.text("shell"));
  auto have = words(said(seen, "groups"));
  std::string missing;
  for (const auto& group : list_of(item, "groups")) {
    if (std::find(have.begin(), have.end(), group) == have.end())
      missing += (missing.empty() ? "" : ",") + group;
  }
  if (!missing.empty()) {
    if (there) work.changes.push_back(change(item, "groups", said(seen, "groups"), "+ " + missing));
    (there ? modify : work.script) += fmt::format(" {} {}", there ? "-a -G" : "-G", shell_quote(missing));
  }
  if (!there)
    work.script += " " + name + "\n";
  else if (!modify.empty())
    work.script += "usermod" + modify + " " + name + "\n";
  if (there && !home.empty() && (fields[5] != home || said(seen, "home").empty()))
    plan_home(item, seen, work);
  plan_keys(item, seen, work);
  return work;
}

// usermod names another home folder, but does not make it.
void UserKind::plan_home(const Item& item, const Seen& seen, Work& work) {
  if (said(seen, "home").empty()) work.changes.push_back(change(item, "home folder", "absent", "present"));
  work.script += make_parent(item.text("home")) +
                 fmt::format(
                     "h={0}\nif [ ! -d \"$h\" ]; then\nmkdir -m 0700 \"$h\"\ng=$(id -g {1})\n"
                     "chown {1}:\"$g\" \"$h\"\nfi\n",
                     shell_path(item.text("home")), shell_quote(item.resource->name));
}

void UserKind::plan_keys(const Item& item, const Seen& seen, Work& work) {
  auto keys = list_of(item, "authorized_keys");
  std::vector<std::string> missing;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (said(seen, fmt::format("key{}", i)) != "yes") missing.push_back(keys[i]);
  }
  if (missing.empty()) return;
  work.changes.push_back(change(item, "authorized_keys", nullptr, fmt::format("+ {} lines", missing.size())));
  std::string lines;
  for (const auto& key : missing) lines += fmt::format("printf '%s\\n' {}\n", shell_quote(key));
  // Root writes into a folder of another user: it must follow no links and stay below a home.
  work.script += fmt::format(R"sh(n={0}
e=$(getent passwd "$n")
h=${{e%:*}}
h=${{h##*:}}
case $h in /?*) ;; *) fail "user $n has no home folder for the keys, but '$h'";; esac
[ -d "$h" ] || fail "the home folder $h of user $n does not exist"
f=$h/.ssh/authorized_keys
for l in "$h/.ssh" "$f"; do
  [ ! -L "$l" ] || fail "$l is a link: the keys are not written through it"
done
g=$(id -g "$n")
[ -d "$h/.ssh" ] || mkdir -m 0700 "$h/.ssh"
chown "$n:$g" "$h/.ssh"
chmod 0700 "$h/.ssh"
begin_file "$f"
{{
if [ -f "$f" ]; then
  cat "$f"
  l=$(tail -c 1 "$f")
  [ -z "$l" ] || echo
fi
{1}}} > "$t"
chown "$n:$g" "$t"
chmod 0600 "$t"
mv -fT "$t" "$f"
)sh",
                             shell_quote(item.resource->name), lines);
}

}  // namespace

std::unique_ptr<Kind> make_user_kind() { return std::make_unique<UserKind>(); }

}  // namespace radl::native
