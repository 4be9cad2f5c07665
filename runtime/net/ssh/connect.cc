// From a host name to a connection whose both sides are proved.
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/net/ssh/connection.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/net/ssh/negotiation.h"
#include "runtime/net/ssh/tried_keys.h"

namespace radl::ssh {
namespace {

constexpr std::chrono::seconds kConnectTime{10};
constexpr const char* kCiphers = "aes128-ctr,aes256-ctr";
constexpr const char* kMacs = "hmac-sha2-256,hmac-sha2-512";
constexpr const char* kOtherMachine =
    "another machine answers at this address, or the node was recreated; nothing was sent to it";

struct Addresses {
  addrinfo* list = nullptr;
  ~Addresses() {
    if (list) freeaddrinfo(list);
  }
};

void tune(int fd) {
  int one = 1, idle = 15, every = 5, tries = 3;
  unsigned unanswered_ms = 30000;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

// 0, or what errno would say.
int connect_to(int fd, const addrinfo& address, const Stop& stop, Status& stopped) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  auto until = std::min(stop.deadline(), std::chrono::steady_clock::now() + kConnectTime);
  while (std::chrono::steady_clock::now() < until) {
    stopped = stop.check();
    if (!stopped.ok()) return ECANCELED;
    pollfd wait{fd, POLLOUT, 0};
    if (poll(&wait, 1, 50) <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
  }
  return ETIMEDOUT;
}

// libssh2 sends no SIGPIPE-proof bytes by itself on every platform; on Linux MSG_NOSIGNAL does it.
ssize_t quiet_send(libssh2_socket_t fd, const void* bytes, size_t size, int flags, void**) {
  ssize_t n = send(fd, bytes, size, flags | MSG_NOSIGNAL);
  return n < 0 ? -errno : n;
}

std::string joined(const char* methods) { return methods && *methods ? methods : "none"; }

}  // namespace

Status Connection::connect_socket(const Stop& stop) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  Addresses found;
  int code = getaddrinfo(target_.host.c_str(), std::to_string(target_.port).c_str(), &hints, &found.list);
  if (code != 0) return {Code::Retry, fmt::format("cannot find the host's address: {}", gai_strerror(code))};
  int error = 0;
  for (addrinfo* one = found.list; one; one = one->ai_next) {
    int fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return errno_status(errno, "socket");
    Status stopped;
    error = connect_to(fd, *one, stop, stopped);
    if (error == 0) {
      tune(fd);
      socket_ = fd;
      return {};
    }
    close(fd);
    if (!stopped.ok()) return stopped;
  }
  return {Code::Retry, fmt::format("the port does not answer: {}", std::strerror(error))};
}

Status Connection::handshake(const Stop& stop) {
  session_ = libssh2_session_init_ex(nullptr, nullptr, nullptr, this);
  if (!session_) return {Code::Quota, "no memory for an SSH session"};
  libssh2_session_set_blocking(session_, 0);
  libssh2_session_callback_set(session_, LIBSSH2_CALLBACK_SEND, reinterpret_cast<void*>(&quiet_send));
  libssh2_session_callback_set(session_, LIBSSH2_CALLBACK_RECV,
                               reinterpret_cast<void*>(&Connection::receive));
  // The server proves itself with the kind of key that we know of it, and no other.
  std::string type = key_type(target_.host_key);
  if (type.empty()) return invalid("the node's host key is not known: there is nothing to compare with");
  if (libssh2_session_method_pref(session_, LIBSSH2_METHOD_HOSTKEY, type.c_str()) != 0) {
    return {Code::Unsupported, fmt::format("host keys of type {} need the system's OpenSSH client", type)};
  }
  libssh2_session_method_pref(session_, LIBSSH2_METHOD_CRYPT_CS, kCiphers);
  libssh2_session_method_pref(session_, LIBSSH2_METHOD_CRYPT_SC, kCiphers);
  libssh2_session_method_pref(session_, LIBSSH2_METHOD_MAC_CS, kMacs);
  libssh2_session_method_pref(session_, LIBSSH2_METHOD_MAC_SC, kMacs);
  auto outcome =
      drive(stop.within(2 * kConnectTime), [&] { return libssh2_session_handshake(session_, socket_); });
  greeting_ = false;
  if (!outcome) {
    Code code = outcome.status().code();
    if (code == Code::Timeout && stop.check().ok())
      return {Code::Retry, "the port answers, but not with SSH"};
    return code == Code::Lost ? Status(Code::Retry, outcome.status().message()) : outcome.status();
  }
  return outcome->ok() ? Status() : handshake_failure(*outcome, type);
}

// libssh2 has one code for all that the two sides cannot agree on; the server's offer tells what it is.
Status Connection::handshake_failure(const Outcome& outcome, const std::string& host_key_type) {
  if (outcome.code == LIBSSH2_ERROR_KEX_FAILURE || outcome.code == LIBSSH2_ERROR_METHOD_NONE ||
      outcome.code == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE) {
    if (auto offer = parse_offer(first_bytes_)) {
      Disagreement why = disagreement(*offer, session_, host_key_type, kCiphers, kMacs);
      if (why.host_key) return Status(Code::Auth, "host key mismatch: " + why.text).with_hint(kOtherMachine);
      if (!why.text.empty()) return {Code::Unsupported, why.text};
    }
  }
  return {Code::Retry, failure(outcome, "SSH handshake").message()};
}

Status Connection::check_host_key() {
  size_t size = 0;
  int type = 0;
  const char* bytes = libssh2_session_hostkey(session_, &size, &type);
  std::string_view shown(bytes ? bytes : "", bytes ? size : 0);
  auto pinned = key_blob(target_.host_key);
  if (!pinned) return pinned.status();
  if (equal_secret(shown, *pinned)) return {};
  return Status(Code::Auth,
                fmt::format("host key mismatch: the server shows {} {}, pinned is {} {}", blob_type(shown),
                            fingerprint(shown), blob_type(*pinned), fingerprint(*pinned)))
      .with_hint(kOtherMachine);
}

Status Connection::authenticate(const Stop& stop) {
  Status refused;
  std::string tried;
  const bool passphrase = !target_.key_file.empty() && why_unusable(target_.key_file) == kHasPassphrase;
  auto attempt = [&](bool wanted, const char* name, Status (Connection::*method)(const Stop&)) {
    if (!wanted || libssh2_userauth_authenticated(session_)) return true;
    Status done = (this->*method)(stop);
    if (done.ok()) return true;
    tried += fmt::format("{}{}", tried.empty() ? "" : "; ", done.message());
    refused = std::move(done);
    (void)name;
    return refused.code() == Code::Auth;  // go on to the next only after a refusal
  };
  if (!attempt(!target_.key_file.empty(), "key", &Connection::try_key)) return refused;
  if (!attempt(target_.use_agent, "agent", &Connection::try_agent)) return refused;
  if (!attempt(!target_.password.empty(), "password", &Connection::try_password)) return refused;
  if (libssh2_userauth_authenticated(session_)) return {};
  if (tried.empty()) return {Code::Auth, "no key, agent or password to log in with"};
  return Status(Code::Auth, fmt::format("LOGIN REFUSED: {}", tried))
      .with_hint(passphrase
                     ? passphrase_hint(target_.key_file)
                     : "the host key was right: it is the node, but it does not accept these credentials");
}

Status Connection::try_key(const Stop& stop) {
  if (std::string why = why_unusable(target_.key_file); !why.empty())
    return {Code::Auth, fmt::format("{}: {}", target_.key_file, why)};
  auto key = read_file(target_.key_file, 1 << 16);
  if (!key) return {Code::Auth, key.status().message()};
  auto line = public_line_of(*key);
  std::string who =
      line ? fmt::format("{} {}", key_type(*line), fingerprint(*key_blob(*line))) : "no OpenSSH format";
  auto code = drive(stop, [&] {
    return libssh2_userauth_publickey_frommemory(session_, target_.user.data(), target_.user.size(), nullptr,
                                                 0, key->data(), key->size(), nullptr);
  });
  std::fill(key->begin(), key->end(), '\0');
  if (!code) return code.status();
  if (code->ok()) return {};
  if (code->code == LIBSSH2_ERROR_AUTHENTICATION_FAILED || code->code == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED) {
    return {Code::Auth,
            fmt::format("{} ({}): refused by the server for user '{}'", target_.key_file, who, target_.user)};
  }
  if (code->code == LIBSSH2_ERROR_FILE)
    return {Code::Auth, fmt::format("{}: not a private key, or damaged", target_.key_file)};
  Status why = failure(*code, "public key login");
  return why.code() == Code::Lost ? Status(Code::Retry, why.message()) : why;
}

Status Connection::try_agent(const Stop& stop) {
  std::unique_ptr<LIBSSH2_AGENT, decltype(&libssh2_agent_free)> agent(libssh2_agent_init(session_),
                                                                      &libssh2_agent_free);
  // libssh2 would use this process's variable.
  const std::string socket = target_.environment("SSH_AUTH_SOCK");
  if (agent) libssh2_agent_set_identity_path(agent.get(), socket.c_str());
  if (!agent || socket.empty() || libssh2_agent_connect(agent.get()) != 0)
    return {Code::Auth, "no SSH agent answers (SSH_AUTH_SOCK)"};
  Status refused{Code::Auth, "the agent holds no key"};
  std::string tried;
  if (libssh2_agent_list_identities(agent.get()) == 0) {
    libssh2_agent_publickey *identity = nullptr, *before = nullptr;
    while (libssh2_agent_get_identity(agent.get(), &identity, before) == 0) {
      before = identity;
      tried += fmt::format("{}{} ({})", tried.empty() ? "" : ", ", identity->comment ? identity->comment : "",
                           fingerprint({reinterpret_cast<const char*>(identity->blob), identity->blob_len}));
      auto code =
          drive(stop, [&] { return libssh2_agent_userauth(agent.get(), target_.user.c_str(), identity); });
      if (!code)
        refused = code.status();
      else if (code->ok())
        refused = {};
      else
        refused = {Code::Auth,
                   fmt::format("the agent's {}: refused by the server for user '{}'", tried, target_.user)};
      if (refused.ok() || refused.code() != Code::Auth) break;
    }
  }
  libssh2_agent_disconnect(agent.get());
  return refused;
}

Status Connection::try_password(const Stop& stop) {
  auto code = drive(stop, [&] {
    return libssh2_userauth_password_ex(session_, target_.user.data(),
                                        static_cast<unsigned>(target_.user.size()), target_.password.data(),
                                        static_cast<unsigned>(target_.password.size()), nullptr);
  });
  if (!code) return code.status();
  if (code->ok()) return {};
  if (code->code == LIBSSH2_ERROR_AUTHENTICATION_FAILED) {
    char* methods = nullptr;
    (void)drive(stop, [&] {
      methods =
          libssh2_userauth_list(session_, target_.user.data(), static_cast<unsigned>(target_.user.size()));
      return methods ? 0 : libssh2_session_last_errno(session_);
    });
    return {Code::Auth, fmt::format("the password is not accepted for user '{}' (the server takes: {})",
                                    target_.user, joined(methods))};
  }
  return failure(*code, "password login");
}

}  // namespace radl::ssh
