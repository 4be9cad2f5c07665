#include "common/google/jwt.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common/digest.h"

namespace radl::google {
namespace {

constexpr int kLifetime = 3600;  // the longest that Google takes

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* held) const {
    free(held);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Digesting = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;

// A key that is encrypted is none: nobody is asked for its password.
int no_password(char*, int, int, void*) { return -1; }

Result<std::string> rs256(const std::string& pem, const std::string& text, const std::string& origin) {
  const Status no_key(Code::Auth, origin + ": private_key is no RSA key in PEM");
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Key key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr) : nullptr);
  if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) return no_key;
  Digesting digesting(EVP_MD_CTX_new());
  size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (!digesting || EVP_DigestSignInit(digesting.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(digesting.get(), nullptr, &size, bytes, text.size()) != 1)
    return Status(Code::Auth, origin + ": nothing can be signed with private_key");
  std::string signature(size, '\0');
  if (EVP_DigestSign(digesting.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                     text.size()) != 1)
    return Status(Code::Auth, origin + ": nothing can be signed with private_key");
  signature.resize(size);
  return signature;
}

}  // namespace

std::string base64url(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

Result<std::string> signed_assertion(const Credential& credential, const std::string& scope,
                                     std::time_t now) {
  nlohmann::json header = {{"alg", "RS256"}, {"typ", "JWT"}};
  if (!credential.key_id.empty()) header["kid"] = credential.key_id;
  const nlohmann::json claims = {{"iss", credential.account},
                                 {"scope", scope},
                                 {"aud", credential.token_url},
                                 {"iat", now},
                                 {"exp", now + kLifetime}};
  std::string text = base64url(header.dump()) + "." + base64url(claims.dump());
  auto signature = rs256(credential.private_key, text, credential.origin);
  if (!signature.ok()) return signature.status();
  return text + "." + base64url(*signature);
}

}  // namespace radl::google
