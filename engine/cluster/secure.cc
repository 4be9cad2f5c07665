#include "engine/cluster/secure.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <mutex>

#include "common/digest.h"
#include "common/files.h"
#include "common/openssl_handles.h"

namespace radl::engine::cluster {
namespace {

constexpr unsigned char kSuite[] = {0x13, 0x02};  // TLS_AES_256_GCM_SHA384
constexpr size_t kPskSize = 48;
constexpr char kAdmission = 1;  // the server's first byte
constexpr std::string_view kProtocol = "radl wire ";

using openssl::Freed;
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Psk = std::unique_ptr<SSL_SESSION, Freed<SSL_SESSION_free>>;

// OpenSSL fails here only when it is broken or out of memory; a link must not go on unprotected then.
void must(bool ok) {
  if (!ok) std::abort();
}

// HKDF-SHA-384 (RFC 5869).
std::string hkdf(std::string secret, std::string info, size_t size) {
  std::unique_ptr<EVP_KDF, Freed<EVP_KDF_free>> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  must(kdf != nullptr);
  std::unique_ptr<EVP_KDF_CTX, Freed<EVP_KDF_CTX_free>> context(EVP_KDF_CTX_new(kdf.get()));
  char digest[] = "SHA384";
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end()};
  std::string out(size, '\0');
  must(context &&
       EVP_KDF_derive(context.get(), reinterpret_cast<unsigned char*>(out.data()), size, params) == 1);
  OPENSSL_cleanse(secret.data(), secret.size());
  return out;
}

std::string text_of(Identity member) { return fmt::format("{}/{}", role_name(member.role), member.index); }

// The name of a link, to which its key is bound. It holds both members (RFC 9257, 4): a handshake that is
// redirected to another member, or back to its sender, fails.
std::string name_of(Identity client, Identity server) {
  return fmt::format("{}{} {} to {}", kProtocol, kWireVersion, text_of(client), text_of(server));
}

// The client of the link with this name. Corrupt: it is not such a name, or of another version; Invalid: it
// leads to another member than `self`.
Result<Identity> read_name(std::string_view name, Identity self) {
  const Status foreign(Code::Corrupt, "does not speak the protocol of a training job");
  if (!name.starts_with(kProtocol)) return foreign;
  name.remove_prefix(kProtocol.size());
  int version = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  if (error != std::errc() || rest == name.data() + name.size() || *rest != ' ') return foreign;
  if (version != kWireVersion)
    return Status(Code::Corrupt,
                  fmt::format("speaks wire version {}, this program version {}", version, kWireVersion));
  name.remove_prefix(static_cast<size_t>(rest - name.data()) + 1);
  const std::string here = " to " + text_of(self);
  if (!name.ends_with(here))
    return invalid(fmt::format("expects another member here than {}; do all members have the same cluster?",
                               text_of(self)));
  name.remove_suffix(here.size());
  for (const Role role : {Role::Chief, Role::Server, Role::Worker}) {
    const std::string_view prefix = role_name(role);
    if (!name.starts_with(prefix) || name.substr(prefix.size(), 1) != "/") continue;
    const std::string_view number = name.substr(prefix.size() + 1);
    Identity out{role, 0};
    const auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), out.index);
    if (wrong == std::errc() && end == number.data() + number.size()) return out;
  }
  return Status(Code::Corrupt, "names a role that does not exist");
}

class TlsEnd : public SecureEnd {
 public:
  // `server`: of a client; null makes a server.
  TlsEnd(std::string_view key, Identity self, const Identity* server, uint64_t key_life)
      : client_(server != nullptr),
        key_(key),
        key_life_(key_life),
        self_(self),
        name_(server != nullptr ? name_of(self, *server) : ""),
        peer_(server != nullptr ? *server : Identity()) {
    static const Context clients = make_context(true), servers = make_context(false);
    ssl_.reset(SSL_new(client_ ? clients.get() : servers.get()));
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    must(ssl_ && in_ != nullptr && out_ != nullptr);
    BIO_set_mem_eof_return(in_, -1);     // empty: more may come
    SSL_set_bio(ssl_.get(), in_, out_);  // which frees them
    must(SSL_set_app_data(ssl_.get(), this) == 1);
    client_ ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
  }
  ~TlsEnd() override { forget_key(); }

  Status shake(std::string_view in, std::string& out) override {
    feed(in);
    Status status = go_on();
    take_output(out);
    return status;
  }

  Identity peer() const override { return peer_; }

  Status seal(std::string_view plain, std::string& out) override {
    std::lock_guard lock(mutex_);
    ERR_clear_error();
    if (sealed_ >= key_life_) {
      if (SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) return broken();
      sealed_ = 0;
    }
    size_t written = 0;
    if (!plain.empty() && SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written) != 1)
      return broken();
    sealed_ += plain.size();
    take_output(out);
    return {};
  }

  void feed(std::string_view in) override {
    std::lock_guard lock(mutex_);
    size_t written = 0;
    if (!in.empty()) must(BIO_write_ex(in_, in.data(), in.size(), &written) == 1 && written == in.size());
  }

  Result<size_t> open(char* to, size_t size) override {
    std::lock_guard lock(mutex_);
    ERR_clear_error();
    size_t got = 0;
    if (SSL_read_ex(ssl_.get(), to, size, &got) == 1) return got;
    switch (SSL_get_error(ssl_.get(), 0)) {
      case SSL_ERROR_WANT_READ:
        return size_t{0};
      case SSL_ERROR_ZERO_RETURN:
        return Status(Code::Lost, "the connection was closed");
      default:
        return Status(Code::Auth, "a record that was changed, repeated or left out on its way");
    }
  }

 private:
  static Context make_context(bool client) {
    Context c(SSL_CTX_new(client ? TLS_client_method() : TLS_server_method()));
    must(c && SSL_CTX_set_min_proto_version(c.get(), TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(c.get(), TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_ciphersuites(c.get(), "TLS_AES_256_GCM_SHA384") == 1 &&
         SSL_CTX_set1_groups_list(c.get(), "X25519") == 1 && SSL_CTX_set_num_tickets(c.get(), 0) == 1 &&
         SSL_CTX_set_max_early_data(c.get(), 0) == 1 && SSL_CTX_set_recv_max_early_data(c.get(), 0) == 1);
    SSL_CTX_set_session_cache_mode(c.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(c.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(c.get(), SSL_MODE_RELEASE_BUFFERS);
    if (client) {
      // Without it a client takes any server that has a certificate. No root is loaded: none is good.
      SSL_CTX_set_verify(c.get(), SSL_VERIFY_PEER, nullptr);
      SSL_CTX_set_psk_use_session_callback(c.get(), use_key);
    } else {
      SSL_CTX_set_psk_find_session_callback(c.get(), find_key);
    }
    return c;
  }

  // The pre-shared key of a link with a client of this name.
  SSL_SESSION* session_of(const std::string& name) const {
    std::string psk = hkdf(key_, name, kPskSize);
    Psk out(SSL_SESSION_new());
    must(out &&
         SSL_SESSION_set1_master_key(out.get(), reinterpret_cast<const unsigned char*>(psk.data()),
                                     psk.size()) == 1 &&
         SSL_SESSION_set_cipher(out.get(), SSL_CIPHER_find(ssl_.get(), kSuite)) == 1 &&
         SSL_SESSION_set_protocol_version(out.get(), TLS1_3_VERSION) == 1);
    OPENSSL_cleanse(psk.data(), psk.size());
    return out.release();
  }

  static int use_key(SSL* ssl, const EVP_MD* md, const unsigned char** id, size_t* size,
                     SSL_SESSION** session) {
    const TlsEnd& end = *static_cast<TlsEnd*>(SSL_get_app_data(ssl));
    *session = nullptr;
    *id = nullptr;
    *size = 0;
    if (md != nullptr && !EVP_MD_is_a(md, "SHA2-384")) return 1;  // not for our suite
    *session = end.session_of(end.name_);
    *id = reinterpret_cast<const unsigned char*>(end.name_.data());
    *size = end.name_.size();
    return 1;
  }

  static int find_key(SSL* ssl, const unsigned char* id, size_t size, SSL_SESSION** session) {
    TlsEnd& end = *static_cast<TlsEnd*>(SSL_get_app_data(ssl));
    const std::string name(reinterpret_cast<const char*>(id), size);
    Result<Identity> peer = read_name(name, end.self_);
    *session = peer.ok() ? end.session_of(name) : nullptr;
    end.named_ = peer.status();
    if (peer.ok()) end.peer_ = *peer;
    return 1;
  }

  Status go_on() {
    {
      std::lock_guard lock(mutex_);
      ERR_clear_error();
      if (const int done = SSL_do_handshake(ssl_.get()); done != 1) {
        if (SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ) return {Code::Retry, "it is not done"};
        return failure();
      }
      forget_key();
      if (SSL_session_reused(ssl_.get()) != 1) return {Code::Auth, "does not have this job's key"};
    }
    return client_ ? read_admission() : write_admission();
  }

  // A client that named itself and then failed has another key.
  Status failure() const {
    const Status stranger(Code::Auth, "does not have this job's key");
    if (!client_) return named_.ok() ? stranger : named_;
    const int reason = ERR_GET_REASON(ERR_peek_error());
    // The alert of a server that does not take the name; one with another key says that the binder is wrong.
    if (reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE)
      return invalid(fmt::format("speaks another wire version than {}, or is not {}", kWireVersion,
                                 text_of(peer_)))
          .with_hint("give all members the same program and the same cluster");
    const bool spoke = reason >= SSL_AD_REASON_OFFSET || reason == SSL_R_CERTIFICATE_VERIFY_FAILED;
    return spoke ? stranger : Status(Code::Corrupt, "does not speak the protocol of a training job");
  }

  // An error of the other side's (a record that does not open) has ended both directions: OpenSSL writes
  // nothing after it.
  static Status broken() {
    ERR_clear_error();
    return {Code::Lost, "the connection is broken"};
  }

  Status write_admission() {
    size_t written = 0;
    std::lock_guard lock(mutex_);
    return SSL_write_ex(ssl_.get(), &kAdmission, 1, &written) == 1 ? Status() : broken();
  }

  // Without the server's word the link may have ended there already: it had too many strangers to wait for.
  Status read_admission() {
    char byte = 0;
    Result<size_t> n = open(&byte, 1);
    if (!n) return std::move(n).status();
    if (*n == 0) return {Code::Retry, "it is not done"};
    return byte == kAdmission ? Status() : Status(Code::Corrupt, "does not admit this member");
  }

  // A link does not need the job's key once its own keys are agreed.
  void forget_key() {
    OPENSSL_cleanse(key_.data(), key_.size());
    key_.clear();
  }

  void take_output(std::string& out) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out_, &bytes);
    if (size > 0) out.append(bytes, static_cast<size_t>(size));
    (void)BIO_reset(out_);
  }

  const bool client_;
  std::string key_;  // the job's; empty once the handshake is done
  const uint64_t key_life_;
  const Identity self_;
  const std::string name_;  // of the link; a client's
  Identity peer_;           // a server learns it in the handshake
  std::mutex mutex_;        // an SSL object is for one thread at a time
  std::unique_ptr<SSL, Freed<SSL_free>> ssl_;
  BIO *in_ = nullptr, *out_ = nullptr;  // owned by ssl_
  Status named_{Code::Corrupt, "does not speak the protocol of a training job"};
  uint64_t sealed_ = 0;
};

}  // namespace

std::unique_ptr<SecureEnd> SecureEnd::client(std::string_view key, Identity self, Identity server,
                                             uint64_t key_life) {
  return std::make_unique<TlsEnd>(key, self, &server, key_life);
}

std::unique_ptr<SecureEnd> SecureEnd::server(std::string_view key, Identity self, uint64_t key_life) {
  return std::make_unique<TlsEnd>(key, self, nullptr, key_life);
}

Result<std::string> read_job_key(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 077) != 0) {
    return Status(Code::Auth, path + ": the job's key can be read by other users")
        .with_hint("chmod 600 " + path);
  }
  Result<std::string> text = read_file(path, 4096);
  if (!text) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' '))
    text->pop_back();
  Result<std::string> key = from_hex(*text);
  if (!key || key->size() != 32) return invalid(path + ": does not hold a key of 32 bytes in hex");
  return key;
}

}  // namespace radl::engine::cluster
