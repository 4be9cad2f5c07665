#include "common/jwt.h"

#include <openssl/pem.h>

#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/openssl_handles.h"

namespace radl {
namespace {

using openssl::Bio;
using openssl::Certificate;
using openssl::Digesting;
using openssl::Key;
using openssl::reading;

// Treats an encrypted key as unusable instead of prompting for its password.
int no_password(char*, int, int, void*) { return -1; }

}  // namespace

Result<std::string> sign_rs256(const std::string& pem, const std::string& text, const std::string& what) {
  const Status no_key(Code::Auth, what + " is no RSA key in PEM");
  Bio bio = reading(pem);
  Key key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr) : nullptr);
  if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) return no_key;
  Digesting digesting(EVP_MD_CTX_new());
  size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const Status unusable(Code::Auth, "nothing can be signed with " + what);
  if (!digesting || EVP_DigestSignInit(digesting.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(digesting.get(), nullptr, &size, bytes, text.size()) != 1)
    return unusable;
  std::string signature(size, '\0');
  if (EVP_DigestSign(digesting.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                     text.size()) != 1)
    return unusable;
  signature.resize(size);
  return signature;
}

std::string base64url(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

Result<std::string> signed_jwt(nlohmann::json header, const nlohmann::json& claims, const std::string& pem,
                               const std::string& what) {
  header["alg"] = "RS256";
  header["typ"] = "JWT";
  std::string text = base64url(header.dump()) + "." + base64url(claims.dump());
  auto signature = sign_rs256(pem, text, what);
  if (!signature.ok()) return signature.status();
  return text + "." + base64url(*signature);
}

Result<std::string> certificate_thumbprint(const std::string& pem, const std::string& what) {
  Bio bio = reading(pem);
  Certificate certificate(bio ? PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr) : nullptr);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (!certificate || X509_digest(certificate.get(), EVP_sha1(), digest, &size) != 1)
    return Status(Code::Auth, what + " has no certificate in PEM");
  return base64url({reinterpret_cast<const char*>(digest), size});
}

}  // namespace radl
