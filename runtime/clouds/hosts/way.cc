#include "runtime/clouds/hosts/way.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <vector>

#include "common/digest.h"
#include "common/files.h"
#include "common/process/process.h"
#include "common/shell_quote.h"
#include "common/text.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/openssh.h"

namespace radl::hosts {
namespace {

// OpenSSH looks in the home that the password file names, whatever $HOME says.
std::string home_folder() {
  const passwd* entry = getpwuid(geteuid());
  return entry && entry->pw_dir ? entry->pw_dir : "/root";
}

std::string with_home(const std::string& path) {
  return path.starts_with("~/") ? home_folder() + path.substr(1) : path;
}

// What a later `ssh -F` reads in place of both the user's and the system's. The user's own goes by a name
// that means the same on a colleague's computer.
std::string config_file(const Environment& environment, const std::string& chosen) {
  return chosen.empty() || chosen == ssh::ssh_config_of_user(environment) ? ssh::kUsersSshConfig : chosen;
}

Result<std::string> run_tool(const Environment& environment, std::vector<std::string> argv,
                             const Stop& stop) {
  ProcessRequest request;
  request.argv = std::move(argv);
  request.deadline = std::chrono::seconds(10);
  request.stop = stop;
  auto ran = run_process(environment, request);
  if (!ran) {
    return ran.status().code() == Code::NotFound
               ? Status(Code::Unsupported, "no OpenSSH client on this computer")
                     .with_hint("install openssh-client")
               : ran.status();
  }
  if (ran->exit_status != 0 && !ran->err.empty())
    return invalid(fmt::format("{}: {}", request.argv[0], ran->err.substr(0, ran->err.find('\n'))));
  return std::move(ran->out);
}

// What `ssh NAME` would do: lower-case keyword -> value, of each the first.
Result<std::map<std::string, std::string>> resolved(const Environment& environment, const Machine& machine,
                                                    const std::string& ssh_config, const Stop& stop) {
  std::vector<std::string> argv{"ssh", "-G"};
  if (!ssh_config.empty()) argv.insert(argv.end(), {"-F", ssh_config});
  if (!machine.user.empty()) argv.insert(argv.end(), {"-l", machine.user});
  if (machine.port != 0) argv.insert(argv.end(), {"-p", std::to_string(machine.port)});
  argv.insert(argv.end(), {"--", machine.host});
  auto out = run_tool(environment, std::move(argv), stop);
  if (!out) return out.status();
  std::map<std::string, std::string> settings;
  std::istringstream lines(*out);
  for (std::string line; std::getline(lines, line);) {
    size_t space = line.find(' ');
    if (space != line.npos) settings.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return settings;
}

// The best kind of the keys that a known_hosts file has for a name, hashed names included; "" for none.
Result<std::string> known_key(const Environment& environment, const std::string& name,
                              const std::string& file, const Stop& stop) {
  if (access(file.c_str(), R_OK) != 0) return std::string();
  auto out = run_tool(environment, {"ssh-keygen", "-F", name, "-f", file}, stop);
  if (!out) return out.status();
  constexpr std::string_view kByChoice[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
                                            "ecdsa-sha2-nistp521", "ssh-rsa"};
  std::map<std::string, std::string> keys;
  std::istringstream lines(*out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string names, type, blob;
    words >> names >> type >> blob;
    if (!names.empty() && names[0] != '#' && names[0] != '@' && !blob.empty()) keys.emplace(type, blob);
  }
  for (std::string_view type : kByChoice) {
    if (auto key = keys.find(std::string(type)); key != keys.end()) return key->first + " " + key->second;
  }
  return std::string();
}

Result<std::string> host_key(const Environment& environment,
                             const std::map<std::string, std::string>& settings, const Machine& machine,
                             const std::string& ssh_config, const Stop& stop) {
  auto setting = [&](const char* name) {
    auto found = settings.find(name);
    return found == settings.end() || found->second == "none" ? std::string() : found->second;
  };
  std::vector<std::string> names{setting("hostkeyalias")};
  if (names[0].empty()) {
    names = {setting("hostname")};
    if (setting("port") != "22")
      names.insert(names.begin(), fmt::format("[{}]:{}", names[0], setting("port")));
  }
  for (const std::string& name : names) {
    std::istringstream files(setting("userknownhostsfile") + " " + setting("globalknownhostsfile"));
    for (std::string file; files >> file;) {
      auto key = known_key(environment, name, with_home(file), stop);
      if (!key || !key->empty()) return key;
    }
  }
  return Status(Code::Auth, fmt::format("{}: its host key is unknown: no known_hosts file has '{}'",
                                        machine.name(), names[0]))
      .with_hint(fmt::format("log in once with `ssh {}{}` and compare the key that it shows",
                             ssh_config.empty() ? "" : "-F " + shell_quote(ssh_config) + " ",
                             machine.ssh_words()));
}

}  // namespace

Result<Way> find_way(const Environment& environment, const Machine& machine, const std::string& ssh_config,
                     const Stop& stop) {
  auto settings = resolved(environment, machine, ssh_config, stop);
  if (!settings) return settings.status();
  Way way;
  way.host = (*settings)["hostname"];
  way.user = (*settings)["user"];
  way.port = std::atoi((*settings)["port"].c_str());
  if (way.host.empty() || way.user.empty() || way.port <= 0)
    return invalid(fmt::format("{}: `ssh -G` gives no address for it", machine.name()));
  auto key = host_key(environment, *settings, machine, ssh_config, stop);
  if (!key) return key.status();
  way.host_key = *key;
  for (const char* proxy : {"proxyjump", "proxycommand"}) {
    if (!settings->count(proxy) || (*settings)[proxy] == "none") continue;
    way.host = machine.host;
    way.ssh_config = config_file(environment, ssh_config);
  }
  return way;
}

ssh::Target own_target(const Environment& environment, const Way& way, const std::string& key_file) {
  ssh::Target target;
  target.environment = environment;
  target.host = way.host;
  target.port = way.port;
  target.user = way.user;
  target.host_key = way.host_key;
  target.key_file = key_file;
  target.ssh_config = ssh::ssh_config_file(environment, way.ssh_config);
  return target;
}

Result<Credentials> credentials_of(const nlohmann::json& references, const ir::Secrets* secrets) {
  Credentials made;
  if (!references.is_object()) return made;
  for (const auto& [name, value] : references.items()) {
    std::string& into = name == "password" ? made.password : made.private_key;
    if (value.is_string()) into = value.get<std::string>();
    if (!ir::is_secret(value)) continue;
    const std::string secret = value.at("$secret").get<std::string>();
    auto known = secrets ? secrets->find(secret) : ir::Secrets::const_iterator();
    if (!secrets || known == secrets->end())
      return not_found(fmt::format("the secret {}, which the login needs, is missing", secret));
    into = known->second;
  }
  return made;
}

Result<std::unique_ptr<UserLogin>> UserLogin::make(const Environment& environment, const Machine& machine,
                                                   const Way& way, const Credentials& credentials,
                                                   const std::string& ssh_config, const std::string& folder) {
  std::unique_ptr<UserLogin> login(new UserLogin);
  ssh::Target target = own_target(environment, way, "");
  if (credentials.none()) {
    // All that `ssh NAME` has: keys, agent, jump hosts.
    target.host = machine.host;
    target.ssh_config = ssh::ssh_config_file(environment, config_file(environment, ssh_config));
    target.use_agent = true;
    login->remote_ = ssh::make_openssh_remote(target);
    return login;
  }
  if (!way.ssh_config.empty() && credentials.private_key.empty()) {
    return Status(Code::Unsupported,
                  machine.name() + ": radlc does not send a password through a jump host: use a key");
  }
  target.password = credentials.password;
  if (!credentials.private_key.empty()) {
    if (Status s = make_directories(folder, 0700); !s.ok()) return s;
    login->key_file_ = folder + "/login-" + to_hex(random_bytes(4)) + ".tmp-key";
    std::string text = credentials.private_key;
    if (!text.ends_with('\n')) text += '\n';
    if (Status s = write_file_atomic(login->key_file_, text, 0600); !s.ok()) return s;
    target.key_file = login->key_file_;
  }
  login->remote_ = ssh::make_remote(target);
  return login;
}

UserLogin::~UserLogin() {
  remote_.reset();
  if (key_file_.empty()) return;
  ::unlink(key_file_.c_str());
  ::rmdir(parent_path(key_file_).c_str());  // only when it is empty
}

}  // namespace radl::hosts
