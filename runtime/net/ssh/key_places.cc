#include "runtime/net/ssh/key_places.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "common/files.h"
#include "runtime/net/ssh/keys.h"

namespace radl::ssh {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestKeyFile = 1 << 14;
constexpr std::string_view kPublicEnd = ".pub";

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    if (at->is_regular_file(unreadable)) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// The private key file for `file`, which holds the key's private half, or its public half beside the private
// one.
std::string private_half_of(const std::string& file, const std::string& wanted) {
  const bool is_public = file.ends_with(kPublicEnd);
  auto text = read_file(file, kLargestKeyFile);
  if (!text) return "";
  auto line = is_public ? Result<std::string>(*text) : public_line_of(*text);
  std::fill(text->begin(), text->end(), '\0');
  auto print = line ? fingerprint_of_line(*line) : Result<std::string>(line.status());
  if (!print || *print != wanted) return "";
  const std::string path = is_public ? file.substr(0, file.size() - kPublicEnd.size()) : file;
  return exists(path) ? path : "";
}

std::string find_in(const std::string& folder, const std::string& wanted) {
  for (const std::string& file : files_in(folder)) {
    if (std::string path = private_half_of(file, wanted); !path.empty()) return path;
  }
  return "";
}

// A request and its answer, each with its length before it in 4 bytes, the highest first.
std::string ask_agent(const std::string& socket_path, char request) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.empty() || socket_path.size() >= sizeof address.sun_path) return "";
  std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  timeval patience{5, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const char question[5] = {0, 0, 0, 1, request};
  std::string answer;
  size_t wanted = 4;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::send(fd, question, sizeof question, MSG_NOSIGNAL) == sizeof question) {
    char buffer[4096];
    for (ssize_t n; answer.size() < wanted && (n = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(n));
      if (wanted != 4 || answer.size() < 4) continue;
      wanted = 4;
      size_t body = 0;
      for (int i = 0; i < 4; ++i) body = body << 8 | static_cast<unsigned char>(answer[i]);
      if (body > (1 << 20)) break;
      wanted += body;
    }
  }
  ::close(fd);
  return answer.size() >= wanted && wanted > 4 ? answer.substr(4) : "";
}

// draft-ietf-sshm-ssh-agent, section 3.5: SSH_AGENTC_REQUEST_IDENTITIES (11) is answered by
// SSH_AGENT_IDENTITIES_ANSWER (12), a number, and a blob and a comment for each key.
bool agent_has(const std::string& socket_path, const std::string& wanted) {
  const std::string answer = ask_agent(socket_path, 11);
  if (answer.size() < 5 || answer[0] != 12) return false;
  size_t at = 5;
  auto next = [&]() -> std::string {
    if (at + 4 > answer.size()) return "";
    size_t size = 0;
    for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(answer[at + i]);
    at += 4;
    if (size > answer.size() - at) {
      at = answer.size();
      return "";
    }
    at += size;
    return answer.substr(at - size, size);
  };
  while (at < answer.size()) {
    const std::string blob = next();
    (void)next();  // the comment
    if (!blob.empty() && fingerprint(blob) == wanted) return true;
  }
  return false;
}

}  // namespace

std::string user_key_folder(const Environment& environment) {
  const std::string data = environment("XDG_DATA_HOME"), home = environment("HOME");
  if (data.starts_with('/')) return data + "/radlc/keys";
  return home.starts_with('/') ? home + "/.local/share/radlc/keys" : "";
}

KeyPlaces key_places(const Environment& environment, const std::string& work_directory) {
  KeyPlaces places;
  places.environment = environment;
  if (!work_directory.empty()) {
    places.folders.push_back(work_directory);
    std::error_code error;
    for (fs::directory_iterator at(work_directory, error), end; !error && at != end; at.increment(error)) {
      std::error_code unreadable;
      if (at->is_directory(unreadable)) places.folders.push_back(at->path());
    }
    std::sort(places.folders.begin(), places.folders.end());
  }
  if (std::string folder = user_key_folder(environment); !folder.empty()) places.folders.push_back(folder);
  if (std::string home = environment("HOME"); home.starts_with('/')) places.folders.push_back(home + "/.ssh");
  places.agent = environment("SSH_AUTH_SOCK");
  return places;
}

Result<FoundKey> find_key(const std::string& fingerprint, const KeyPlaces& places) {
  FoundKey found;
  for (const std::string& folder : places.folders) {
    found.file = find_in(folder, fingerprint);
    if (!found.file.empty()) break;
  }
  found.in_agent = agent_has(places.agent, fingerprint);
  if (!found.file.empty() || found.in_agent) return found;
  std::string where;
  for (const std::string& folder : places.folders) where += (where.empty() ? "" : ", ") + folder;
  where += places.agent.empty() ? "; SSH_AUTH_SOCK names no agent" : " and the ssh-agent";
  const std::string own = user_key_folder(places.environment);
  return Status(Code::NotFound, "no private key with the fingerprint " + fingerprint +
                                    " is on this computer; searched: " + where)
      .with_hint("get it from the creator of the infrastructure, and put it into " +
                 (own.empty() ? "~/.ssh" : own) + " (mode 0600), or `ssh-add` it");
}

}  // namespace radl::ssh
