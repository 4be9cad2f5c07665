#include "runtime/clouds/local/node_directory.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/shell_quote.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/network.h"
#include "runtime/net/ssh/keys.h"

namespace radl::local {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A word of sshd_config.
std::string config_word(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// The same where the server replaces %h and the like.
std::string config_word_with_tokens(const std::string& text) {
  std::string doubled;
  for (char c : text) doubled.append(c == '%' ? 2 : 1, c);
  return config_word(doubled);
}

std::string sftp_server() {
  for (const char* path : {"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server",
                           "/usr/libexec/sftp-server", "/usr/lib/ssh/sftp-server"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

// Makes the node's folder the place where commands start, and sh what runs them: sshd itself goes to the home
// that the password file names, which is the real one where the node has no file system view of its own.
constexpr const char* kLogin =
    "#!/bin/sh\n"
    "cd \"$HOME\" || exit 1\n"
    "if [ -n \"$SSH_ORIGINAL_COMMAND\" ]; then exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"; fi\n"
    "exec \"${SHELL:-/bin/sh}\"\n";

std::string server_configuration(const NodeDirectory& node, const Record& record) {
  std::string text = fmt::format(
      "AddressFamily inet\nListenAddress {}:{}\nHostKey {}\nPidFile none\nAuthorizedKeysFile {} {}\n"
      // The folders above may belong to anybody (/tmp); ours is 0700, so nobody else can change the key file.
      "StrictModes no\n"
      "UsePAM no\nAuthenticationMethods publickey\nPasswordAuthentication no\nKbdInteractiveAuthentication "
      "no\n"
      "PermitRootLogin prohibit-password\nAllowUsers {}\nPermitUserRC no\nPermitUserEnvironment "
      "no\nX11Forwarding no\n"
      "AllowAgentForwarding no\nGatewayPorts no\nUseDNS no\nPrintMotd no\nPrintLastLog no\n"
      "MaxStartups 200\nMaxSessions 200\nLoginGraceTime 30\nClientAliveInterval 30\n"
      "SetEnv {} {} {}\n",
      record.host, record.port, config_word(node.path("etc/ssh_host_ed25519_key")),
      config_word_with_tokens(node.path("etc/authorized_keys")),
      config_word_with_tokens(node.path("home/.ssh/authorized_keys")), record.user,
      config_word("HOME=" + node.path("home")), config_word("RADL_NODE=" + record.address),
      config_word("RADL_NODE_DIRECTORY=" + node.path()));
  if (record.isolated) return text + "Subsystem sftp internal-sftp\n";
  return text + fmt::format("Subsystem sftp {}\nForceCommand /bin/sh {}\n", sftp_server(),
                            shell_quote(node.path("etc/login")));
}

}  // namespace

std::string login_name() {
  const passwd* entry = getpwuid(geteuid());
  return entry ? entry->pw_name : std::to_string(geteuid());
}

bool NodeDirectory::exists() const { return access(path("node.json").c_str(), F_OK) == 0; }

Status NodeDirectory::make() const {
  // A line end would begin a further line of sshd_config.
  if (std::any_of(work_.begin(), work_.end(), [](unsigned char c) { return c < 32 || c == 127; }))
    return Status(Code::Invalid, "the state's folder has a control character in its name")
        .with_hint("name another folder with --state");
  for (const char* below : {"etc", "home", "run"}) {
    if (Status s = make_directories(path(below), 0700); !s.ok()) return s;
  }
  // Another user may have created it before (a work folder in /tmp).
  struct stat info {};
  if (lstat(path().c_str(), &info) != 0) return errno_status(errno, path());
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid())
    return {Code::Auth, path() + ": belongs to another user"};
  if (chmod(path().c_str(), 0700) != 0) return errno_status(errno, path());
  return {};
}

Status NodeDirectory::save(const Record& r) const {
  json record{{"version", 1},           {"id", r.id},
              {"token", r.token},       {"infrastructure", r.infrastructure},
              {"address", r.address},   {"host", r.host},
              {"port", r.port},         {"user", r.user},
              {"host_key", r.host_key}, {"hostname", r.hostname},
              {"isolated", r.isolated}, {"network", r.network},
              {"egress", r.egress},     {"whole", r.whole},
              {"spec", r.spec}};
  return write_file_atomic(path("node.json"), record.dump(1) + "\n", 0600);
}

Result<Record> NodeDirectory::load() const {
  auto text = read_file(path("node.json"), 1 << 20);
  if (!text) return text.status();
  json j = json::parse(*text, nullptr, false);
  const Status damaged(Code::Corrupt, path("node.json") + ": damaged, or of a newer version");
  try {
    if (j.value("version", 0) != 1) return damaged;
    Record r;
    r.id = j.value("id", "");
    r.token = j.value("token", "");
    r.infrastructure = j.value("infrastructure", "");
    r.address = j.value("address", "");
    r.host = j.value("host", "");
    r.port = j.value("port", 0);
    r.user = j.value("user", "");
    r.host_key = j.value("host_key", "");
    r.hostname = j.value("hostname", "");
    r.isolated = j.value("isolated", false);
    r.network = j.value("network", "");
    r.egress = j.value("egress", true);
    r.whole = j.value("whole", false);
    r.spec = j.value("spec", json::object());
    return r;
  } catch (const json::exception&) {
    return damaged;
  }
}

Status NodeDirectory::write_configuration(Record& record, const std::string& public_key,
                                          const Environment& environment) const {
  if (!record.isolated && sftp_server().empty()) {
    return Status(Code::Unsupported, "OpenSSH's sftp-server is not installed on this computer")
        .with_hint("install openssh-sftp-server");
  }
  auto host_key = ssh::ensure_key_file(path("etc/ssh_host_ed25519_key"), record.hostname);
  if (!host_key) return host_key.status();
  record.host_key = *host_key;
  if (Status s = write_file_atomic(path("etc/authorized_keys"), public_key + "\n", 0600); !s.ok()) return s;
  if (Status s = write_file_atomic(path("etc/login"), kLogin, 0700); !s.ok()) return s;
  if (record.isolated) {
    if (Status s = write_boot_script(*this, record, environment); !s.ok()) return s;
  }
  if (!record.network.empty()) {
    if (Status s = write_join_script(*this, record); !s.ok()) return s;
  }
  return write_file_atomic(config(), server_configuration(*this, record), 0600);
}

Status NodeDirectory::remove() const {
  // The record goes last, so that a removal cut short is found again.
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path(), error)) {
    if (entry.path().filename() == "node.json") continue;
    fs::remove_all(entry.path(), error);
    if (error && error.value() == EACCES) {  // a folder without write permission inside
      for (auto at = fs::recursive_directory_iterator(entry.path(),
                                                      fs::directory_options::skip_permission_denied, error);
           at != fs::recursive_directory_iterator(); at.increment(error)) {
        if (at->is_directory() && !at->is_symlink()) chmod(at->path().c_str(), 0700);
      }
      fs::remove_all(entry.path(), error);
    }
    if (error) return errno_status(error.value(), entry.path().string());
  }
  fs::remove_all(path(), error);
  if (error) return errno_status(error.value(), path());
  fs::remove(work_ + "/nodes", error);  // only when it is empty
  return {};
}

std::string node_id(const std::string& address, const std::string& token) {
  std::string name;
  for (char c : address) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name.substr(0, 40) + "-" + sha256_hex(token).substr(0, 8);
}

bool id_is_of_token(const std::string& id, const std::string& token) {
  return id.ends_with("-" + sha256_hex(token).substr(0, 8));
}

std::vector<NodeDirectory> all_nodes(const std::string& work_directory) {
  std::vector<NodeDirectory> nodes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(work_directory + "/nodes", error)) {
    nodes.emplace_back(work_directory, entry.path().filename().string());
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.id() < b.id(); });
  return nodes;
}

std::string loopback_address(const std::string& infrastructure, const std::string& address,
                             const std::vector<std::string>& taken) {
  for (int attempt = 0;; ++attempt) {
    auto raw = from_hex(sha256_hex(fmt::format("{}\n{}\n{}", infrastructure, address, attempt)));
    auto byte = [&](size_t i) { return static_cast<unsigned>(static_cast<unsigned char>((*raw)[i])); };
    std::string host = fmt::format("127.{}.{}.{}", 64 + byte(0) % 128, byte(1), 1 + byte(2) % 254);
    if (std::find(taken.begin(), taken.end(), host) == taken.end()) return host;
  }
}

Result<int> free_port(const std::string& host) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno_status(errno, "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  socklen_t size = sizeof address;
  bool good = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
              getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  int error = errno;
  close(fd);
  if (!good) return errno_status(error, host);
  return static_cast<int>(ntohs(address.sin_port));
}

}  // namespace radl::local
