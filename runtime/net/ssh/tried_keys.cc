#include "runtime/net/ssh/tried_keys.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "common/files.h"
#include "common/text.h"
#include "runtime/net/ssh/keys.h"

namespace radl::ssh {
namespace {

struct Tried {
  std::string name, why;  // a file, or what the agent calls the key
};

// The text of a log line: without "debug1: sshconnect2.c:userauth_pubkey():2066 (pid=25021): ".
std::string_view text_of(std::string_view line) {
  line = trim(line);
  if (const size_t source = line.find("sshconnect2.c:"); source != line.npos) {
    if (const size_t end = line.find("): ", source); end != line.npos) line.remove_prefix(end + 3);
  }
  return line;
}

std::optional<std::string_view> after(std::string_view line, std::string_view begin) {
  if (!line.starts_with(begin)) return std::nullopt;
  return line.substr(begin.size());
}

// "/home/ann/.ssh/id ED25519 SHA256:abc explicit agent" -> "/home/ann/.ssh/id". Keeps the fingerprint for the
// agent's keys, whose name is an arbitrary comment.
std::string name_of(std::string_view key) {
  const size_t print = key.find(" SHA256:");
  if (print == key.npos) return std::string(trim(key));
  const size_t type = key.rfind(' ', print - 1);
  const std::string name(trim(key.substr(0, type == key.npos ? print : type)));
  if (name.starts_with('/')) return name;
  const size_t end = std::min(key.find(' ', print + 1), key.size());
  return fmt::format("{} ({})", name.empty() ? "a key of the agent" : name,
                     key.substr(print + 1, end - print - 1));
}

class Log {
 public:
  void take(std::string_view line) {
    if (auto key = after(line, "Offering public key: ")) set(name_of(*key), "refused by the server");
    if (auto key = after(line, "Server accepts key: ")) accepted(name_of(*key));
    if (auto key = after(line, "Trying private key: ")) tried_file(std::string(trim(*key)));
    if (auto rest = after(line, "no such identity: ")) failed(*rest, rest->rfind(": "));
    if (auto rest = after(line, "Load key \"")) failed(*rest, rest->rfind("\": "));
    if (const size_t at = line.find("Permission denied ("); at != line.npos) {
      const size_t begin = at + 19;
      methods = line.substr(begin, line.find(')', begin) - begin);
    }
    too_many |= line.find("Too many authentication failures") != line.npos;
  }

  std::vector<Tried> keys;
  std::string methods, passphrase_of;
  bool too_many = false;

 private:
  void set(const std::string& name, const std::string& why) {
    auto known = std::find_if(keys.begin(), keys.end(), [&](const Tried& one) { return one.name == name; });
    if (known == keys.end())
      keys.push_back({name, why});
    else
      known->why = why;
  }
  void accepted(const std::string& name) {
    const std::string why = name.starts_with('/') ? why_unusable(name) : "";
    set(name, why.empty() ? "accepted by the server, but its private half does not sign" : why);
    if (why == kHasPassphrase) passphrase_of = name;
  }
  // A file without a public half beside it. ssh's default files need not exist.
  void tried_file(const std::string& name) {
    if (::access(name.c_str(), F_OK) != 0) return;
    const std::string why = why_unusable(name);
    set(name, why.empty() ? "refused by the server" : why);
    if (why == kHasPassphrase) passphrase_of = name;
  }
  // "PATH: REASON"
  void failed(std::string_view rest, size_t at) {
    if (at == rest.npos) return;
    std::string_view why = rest.substr(at);
    why.remove_prefix(std::min(why.find(' ') + 1, why.size()));
    set(std::string(rest.substr(0, at)), to_lower(why));
  }
};

}  // namespace

std::string why_unusable(const std::string& key_file) {
  auto text = read_file(key_file, 1 << 16);
  if (!text) return text.status().code() == Code::NotFound ? "no such file" : "cannot be read";
  const bool passphrase = has_passphrase(*text);
  std::fill(text->begin(), text->end(), '\0');
  return passphrase ? kHasPassphrase : "";
}

std::string passphrase_hint(const std::string& key_file) {
  return "radlc asks for no passphrase: `ssh-add " + key_file +
         "` gives the key to the ssh-agent, which it uses";
}

Status refused_login(std::string_view log, const std::string& who) {
  Log read;
  for (std::string_view line : split(log, '\n')) read.take(text_of(line));
  std::string tried;
  for (const Tried& one : read.keys)
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", one.name, one.why);
  const bool logged = log.find("sshconnect2.c:") != log.npos;  // as kLogKeys asks, of a client that knows it
  if (tried.empty()) tried = logged ? "no key was offered" : "the server does not accept these credentials";
  if (!read.methods.empty()) tried += fmt::format("; the server takes {}", read.methods);
  Status refused(Code::Auth, fmt::format("{}: LOGIN REFUSED: {}", who, tried));
  if (!read.passphrase_of.empty()) return std::move(refused).with_hint(passphrase_hint(read.passphrase_of));
  if (read.too_many)
    return std::move(refused).with_hint(
        "the server ended the connection after too many keys: name one with IdentityFile and IdentitiesOnly");
  return std::move(refused).with_hint(
      "the host key was right: it is the node, but it does not accept these credentials");
}

}  // namespace radl::ssh
