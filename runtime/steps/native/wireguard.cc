// wireguard_key, wireguard: a node's keys, and its interface with the peers of a network.
#include <fmt/format.h>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/steps/native/resource.h"
#include "runtime/steps/native/wireguard_peers.h"

namespace radl::native {
namespace {

// Files here name those of /etc/wireguard that go when a machine is given back.
constexpr const char* kMade = "[ -d \"$HOME/.radl/wireguard\" ] || mkdir -p \"$HOME/.radl/wireguard\"\n";

// What wg-quick takes for an interface's name.
Status check_interface(const Item& item) {
  if (Status plain = plain_name(item, "_=+.-"); !plain.ok()) return plain;
  if (item.resource->name.size() <= 15) return {};
  return invalid(item.label() + ": the name of an interface has 15 characters at most");
}

class WireguardKeyKind : public Kind {
 public:
  bool changes_machine() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    if (Status fine = check_interface(item); !fine.ok()) return fine;
    return fmt::format(R"sh(k=/etc/wireguard/{}.key
if [ -f "$k" ]; then
  say kind file
  if command -v wg >/dev/null; then
    p=$(wg pubkey < "$k")
    say public_key "$p"
  fi
fi
)sh",
                       item.resource->name);
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts&) const override {
    Work work;
    if (!said(seen, "kind").empty()) return work;
    work.changes.push_back(change(item, "state", "absent", "present"));
    work.script = fmt::format(R"sh(k=/etc/wireguard/{0}.key
command -v wg >/dev/null || fail "wg is missing: install the package wireguard-tools"
{1}: > "$HOME/.radl/wireguard/{0}.key"
[ -d /etc/wireguard ] || mkdir -m 0700 /etc/wireguard
begin_file "$k"
wg genkey > "$t"
mv -nT "$t" "$k"
t=
)sh",
                              item.resource->name, kMade);
    return work;
  }

  bool gives_any() const override { return true; }
  Result<Json> gives(const Item& item, const Seen& seen) const override {
    const std::string key = said(seen, "public_key");
    if (key.empty()) return invalid(item.label() + ": the node does not say its public key");
    return Json{{"public_key", key}};
  }
};

class WireguardKind : public Kind {
 public:
  bool changes_machine() const override { return true; }
  // The other members have to be known.
  bool plans_ahead() const override { return false; }

  Result<std::string> look(const Item& item) const override {
    if (Status fine = check_interface(item); !fine.ok()) return fine;
    return fmt::format(R"sh(n={}
c=/etc/wireguard/$n.conf
if [ -f "$c" ]; then
  l=
  read -r l < "$c" || [ -n "$l" ] || :
  case $l in {}*) say made ours;; *) say made others;; esac
  d=$(sed '/^PrivateKey = /d' "$c")
  d=$(printf '%s\n' "$d" | sha256sum)
  say config "${{d%% *}}"
fi
i=
if command -v wg >/dev/null; then i=$(wg show interfaces); fi
case " $i " in *" $n "*)
  k=$(wg show "$n" public-key)
  say running "$k"
  p=$(wg show "$n" allowed-ips)
  p=$(printf '%s\n' "$p" | awk '{{for (i = 2; i <= NF; i++) if ($i != "(none)") print $1, $i}}')
  p=$(printf '%s\n' "$p" | LC_ALL=C sort)
  p=$(printf '%s\n' "$p" | sha256sum)
  say peers "${{p%% *}}"
  a=$(ip -o -4 addr show dev "$n")
  a=$(printf '%s\n' "$a" | awk '{{for (i = 1; i < NF; i++) if ($i == "inet") print $(i + 1)}}')
  say address "$a"
esac
h=$(awk -v b="# BEGIN radlc $n" -v e="# END radlc $n" '$0 == b {{s = 1}} s {{print}} $0 == e {{s = 0}}' /etc/hosts)
h=$(printf '%s\n' "$h" | sha256sum)
say hosts "${{h%% *}}"
if [ -d /run/systemd/system ]; then
  s=$(systemctl show -p UnitFileState -- "wg-quick@$n")
  case $s in *=enabled*) say at_boot yes;; *) say at_boot no;; esac
fi
)sh",
                       item.resource->name, shell_quote(kWireguardMark));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    const std::string made = said(seen, "made"), running = said(seen, "running");
    if (made == "others" || (made.empty() && !running.empty()))
      return Status(Code::Conflict,
                    fmt::format(
                        "{}: the node has an interface, or /etc/wireguard/{}.conf, that radlc has not made",
                        item.label(), item.resource->name))
          .with_hint("take it away, or give the network another name");
    size_t self = 0;
    auto members = members_of(item, facts, self);
    if (!members.ok()) return members.status();
    const WireguardText text = wireguard_text(self, *members, item.resource->name, item.text("network"),
                                              item.text("address"), static_cast<int>(item.number("port", 0)));
    Work work;
    note_changes(item, seen, text, (*members)[self], work);
    if (!work.changes.empty()) work.script = script(item, text);
    return work;
  }

 private:
  static Result<std::vector<WireguardMember>> members_of(const Item& item, const Facts& facts, size_t& self) {
    const std::vector<NodeHandle> handles =
        facts.all_nodes ? (*facts.all_nodes)() : std::vector<NodeHandle>();
    const Json &properties = item.resource->properties, &addresses = properties.at("addresses");
    auto text_in = [](const Json& of, const std::string& name) {
      auto found = of.find(name);
      return found != of.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    std::vector<WireguardMember> members;
    self = addresses.size();
    for (const auto& [node, address] : addresses.items()) {
      WireguardMember member;
      member.node = node;
      member.address = text_in(addresses, node);
      member.public_key = text_in(properties.at("keys"), node);
      member.name = text_in(properties.value("names", Json::object()), node);
      for (const NodeHandle& handle : handles) {
        if (handle.address != node) continue;
        member.cloud = handle.cloud;
        member.public_ip = text_in(handle.attributes, "public_ip");
        member.private_ip = text_in(handle.attributes, "private_ip");
      }
      if (member.public_key.empty() || (member.public_ip.empty() && member.private_ip.empty()))
        return invalid(fmt::format("{}: {} has no key or no address yet", item.label(), node));
      if (node == facts.address) self = members.size();
      members.push_back(std::move(member));
    }
    if (self == addresses.size())
      return invalid(fmt::format("{}: {} is not one of its members", item.label(), facts.address));
    return members;
  }

  static void note_changes(const Item& item, const Seen& seen, const WireguardText& text,
                           const WireguardMember& own, Work& work) {
    const std::string config = said(seen, "config"), running = said(seen, "running");
    auto note = [&](const char* what, const std::string& now, const std::string& wanted, Json before,
                    Json after) {
      if (now != wanted) work.changes.push_back(change(item, what, std::move(before), std::move(after)));
    };
    const std::string wanted = sha256_hex(text.head + text.rest), hosts = sha256_hex(text.hosts);
    note("configuration", config, wanted, config.empty() ? Json("absent") : Json(short_digest(config)),
         short_digest(wanted));
    if (running.empty())
      note("state", "down", "up", "down", "up");
    else
      note("public key", running, own.public_key, running, own.public_key);
    if (!running.empty() && config == wanted)
      note("peers", said(seen, "peers"), sha256_hex(text.peers.empty() ? "\n" : text.peers), "others",
           "those of the network");
    if (!running.empty())
      note("address", said(seen, "address"), item.text("address"), said(seen, "address"),
           item.text("address"));
    note("names in /etc/hosts", said(seen, "hosts"), hosts, "others", "those of the network");
    if (said(seen, "at_boot") == "no") note("at boot", "no", "yes", false, true);
  }

  static std::string script(const Item& item, const WireguardText& text) {
    return fmt::format(
        R"sh(n={name} address={address}
c=/etc/wireguard/$n.conf k=/etc/wireguard/$n.key
[ -s "$k" ] || fail "$k lacks: apply again"
command -v wg-quick >/dev/null || fail "wg-quick is missing: install the package wireguard-tools"
command -v ip >/dev/null || fail "ip is missing: install the package iproute2"
{made}: > "$HOME/.radl/wireguard/$n.conf"
begin_file "$c"
printf %s {head} > "$t"
printf 'PrivateKey = ' >> "$t"
cat "$k" >> "$t"
printf %s {rest} >> "$t"
mv -fT "$t" "$c"
t=
a=none
i=$(wg show interfaces)
case " $i " in *" $n "*)
  a=$(ip -o -4 addr show dev "$n")
  case $a in *" $address "*) a=same;; *) wg-quick down "$n"; a=none;; esac
esac
if [ "$a" = same ]; then
  begin_file "/etc/wireguard/$n"
  wg-quick strip "$n" > "$t"
  wg syncconf "$n" "$t"
  rm -f "$t"
  t=
{forwarding}else
  wg-quick up "$n"
fi
if [ -d /run/systemd/system ]; then systemctl enable -q "wg-quick@$n"; fi
begin_file /etc/hosts
awk -v b="# BEGIN radlc $n" -v e="# END radlc $n" '$0 == b {{s = 1}} !s {{print}} $0 == e {{s = 0}}' /etc/hosts > "$t"
printf %s {hosts} >> "$t"
a=$(stat -c '%u:%g %a' /etc/hosts)
chown "${{a% *}}" "$t"
chmod "${{a#* }}" "$t"
m=no
while read -r d p r; do
  if [ "$p" = /etc/hosts ]; then m=yes; fi
done < /proc/mounts
# What a container's engine has mounted there stays the file that it is.
if [ $m = yes ]; then
  cat "$t" > /etc/hosts
  rm -f "$t"
else
  mv -fT "$t" /etc/hosts
fi
t=
)sh",
        fmt::arg("made", kMade),
        fmt::arg("forwarding", text.relays ? "  sysctl -q -w \"net.ipv4.conf.$n.forwarding=1\"\n" : ""),
        fmt::arg("name", item.resource->name), fmt::arg("address", shell_quote(item.text("address"))),
        fmt::arg("head", shell_quote(text.head)), fmt::arg("rest", shell_quote(text.rest)),
        fmt::arg("hosts", shell_quote(text.hosts)));
  }
};

}  // namespace

std::unique_ptr<Kind> make_wireguard_key_kind() { return std::make_unique<WireguardKeyKind>(); }
std::unique_ptr<Kind> make_wireguard_kind() { return std::make_unique<WireguardKind>(); }

}  // namespace radl::native
