// The command line of the system's OpenSSH client.
#include "runtime/net/ssh/openssh_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/files.h"
#include "common/shell_quote.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/net/ssh/openssh.h"

namespace radl::ssh {
namespace {

// What ProxyJump would run, if it handed down our key and known hosts too.
std::string through_jump(const Target& target, const ClientFiles& files) {
  std::string user, host = target.jump, port = "22";
  if (size_t at = host.rfind('@'); at != std::string::npos) {
    user = host.substr(0, at);
    host.erase(0, at + 1);
  }
  if (size_t colon = host.rfind(':'); colon != std::string::npos && host.find(':') == colon) {
    port = host.substr(colon + 1);
    host.erase(colon);
  }
  std::vector<std::string> argv{"ssh",
                                "-F",
                                "none",
                                "-o",
                                "BatchMode=yes",
                                "-o",
                                "StrictHostKeyChecking=yes",
                                "-o",
                                "ConnectTimeout=10",
                                "-p",
                                port,
                                "-W",
                                "%h:%p"};
  argv.insert(argv.end(), {"-E", files.folder + "/log"});  // ssh sends its standard error nowhere
  if (!user.empty()) argv.insert(argv.end(), {"-l", user});
  auto add_file = [&](const std::string& option, const std::string& path) {
    if (!path.empty()) argv.insert(argv.end(), {"-o", option + "=\"" + path + "\""});
  };
  add_file("UserKnownHostsFile", target.known_hosts_file);
  add_file("IdentityFile", target.key_file);
  argv.insert(argv.end(), {"--", host});
  std::string line;  // ssh puts `exec` before it
  for (std::string word : argv) {
    if (word != "%h:%p") {
      for (size_t at = 0; (at = word.find('%', at)) != std::string::npos; at += 2) word.insert(at, "%");
    }
    line += (line.empty() ? "" : " ") + shell_quote(word);
  }
  return line;
}

}  // namespace

std::vector<std::string> client_words(const Target& target, const ClientFiles& files,
                                      const std::vector<std::string>& options,
                                      const std::string& remote_command) {
  std::vector<std::string> argv{"ssh", "-F", target.ssh_config.empty() ? "none" : target.ssh_config};
  auto add = [&](std::string option) { argv.insert(argv.end(), {"-o", std::move(option)}); };
  add("BatchMode=yes");
  add("StrictHostKeyChecking=yes");
  add("ControlPath=" + files.socket);
  add("ConnectTimeout=10");
  add(fmt::format("ServerAliveInterval={}", std::max<long>(1, target.answer_within.count() / 3)));
  add("ServerAliveCountMax=3");
  if (!target.host_key.empty()) {
    add("UserKnownHostsFile=\"" + files.folder + "/known_hosts\"");
    add("GlobalKnownHostsFile=/dev/null");
    add(std::string("HostKeyAlias=") + kPinned);
    std::string type = key_type(target.host_key);
    add("HostKeyAlgorithms=" + (type == "ssh-rsa" ? std::string("rsa-sha2-512,rsa-sha2-256") : type));
  } else if (!target.known_hosts_file.empty()) {
    add("UserKnownHostsFile=\"" + target.known_hosts_file + "\"");
  }
  if (!target.key_file.empty()) {
    add("IdentitiesOnly=yes");
    add("IdentityFile=\"" + target.key_file + "\"");
  }
  if (!target.use_agent && !target.key_file.empty()) add("IdentityAgent=none");
  if (!target.jump.empty())
    add(target.ssh_config.empty() ? "ProxyCommand=" + through_jump(target, files)
                                  : "ProxyJump=" + target.jump);
  if (!target.user.empty()) argv.insert(argv.end(), {"-l", target.user});
  if (target.port > 0) argv.insert(argv.end(), {"-p", std::to_string(target.port)});
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"--", target.host});
  if (!remote_command.empty()) argv.push_back(remote_command);
  return argv;
}

std::string why_openssh(const Target& target) {
  if (!target.jump.empty()) return "a jump host";
  if (!target.ssh_config.empty()) return "an ssh_config file";
  if (key_type(target.host_key) == "ssh-rsa")
    return "the host key is RSA, for which libssh2 1.10 has no SHA-2 signatures";
  if (target.key_file.empty()) return "";
  auto key = read_file(target.key_file, 1 << 16);
  if (!key) return "";
  if (key->find("BEGIN RSA PRIVATE KEY") != std::string::npos)
    return "an RSA key, for which libssh2 1.10 has no SHA-2 signatures";
  auto line = public_line_of(*key);
  if (!line) return "a key file that is not in OpenSSH's format";
  std::string type = key_type(*line);
  if (type == "ssh-rsa") return "an RSA key, for which libssh2 1.10 has no SHA-2 signatures";
  if (type.starts_with("sk-")) return "a key on a security token";
  return "";
}

}  // namespace radl::ssh
