#include "common/client_certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>

#include <cstring>

#include "common/openssl_handles.h"

namespace radl {
namespace {

using openssl::Bio;
using openssl::Certificate;
using openssl::Key;
using openssl::reading;
using Pkcs12 = std::unique_ptr<PKCS12, openssl::Freed<PKCS12_free>>;

// Never asks on a terminal, as OpenSSL would.
int take_password(char* to, int size, int, void* of) {
  const auto& password = *static_cast<const std::string*>(of);
  if (password.empty() || password.size() > static_cast<size_t>(size)) return -1;
  std::memcpy(to, password.data(), password.size());
  return static_cast<int>(password.size());
}

Result<std::string> as_pem(const Key& key, const Certificate& certificate, const std::string& what) {
  Bio out(BIO_new(BIO_s_mem()));
  if (!out ||
      PEM_write_bio_PKCS8PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_X509(out.get(), certificate.get()) != 1)
    return invalid(what + ": cannot be used");
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

Status wrong_password(const std::string& what, const std::string& password) {
  return invalid(what + (password.empty() ? ": its key has a password, and none is given"
                                          : ": the password that is given is not that of its key"));
}

Result<std::string> of_pem(const std::string& file, const std::string& password, const std::string& what) {
  Bio for_key = reading(file), for_certificate = reading(file);
  Certificate certificate(PEM_read_bio_X509(for_certificate.get(), nullptr, nullptr, nullptr));
  if (!certificate) return invalid(what + ": has no certificate");
  if (file.find("PRIVATE KEY-----") == file.npos) return invalid(what + ": has no private key");
  std::string copy = password;
  Key key(PEM_read_bio_PrivateKey(for_key.get(), nullptr, take_password, &copy));
  const bool encrypted = file.find("ENCRYPTED") != file.npos;
  if (!key)
    return encrypted ? wrong_password(what, password) : invalid(what + ": its private key is not valid");
  return as_pem(key, certificate, what);
}

Result<std::string> of_pkcs12(Pkcs12 held, const std::string& password, const std::string& what) {
  const bool has_mac = PKCS12_mac_present(held.get()) == 1;
  const bool without = has_mac && (PKCS12_verify_mac(held.get(), nullptr, 0) == 1 ||
                                   PKCS12_verify_mac(held.get(), "", 0) == 1);
  const bool right = !has_mac || without ||
                     PKCS12_verify_mac(held.get(), password.data(), static_cast<int>(password.size())) == 1;
  if (!right) return wrong_password(what, password);
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
  const int parsed = PKCS12_parse(held.get(), without ? "" : password.c_str(), &key, &certificate, nullptr);
  const Key owned_key(key);
  const Certificate owned_certificate(certificate);
  if (parsed != 1)
    return invalid(what + ": is enciphered in a way that OpenSSL 3 no longer reads")
        .with_hint("`openssl pkcs12 -legacy -in FILE.pfx -nodes -out FILE.pem`");
  if (!owned_key) return invalid(what + ": has no private key");
  if (!owned_certificate) return invalid(what + ": has no certificate of its key");
  return as_pem(owned_key, owned_certificate, what);
}

}  // namespace

Result<std::string> plain_certificate(const std::string& file, const std::string& password,
                                      const std::string& what) {
  Result<std::string> made = invalid(what + ": is neither PEM nor PKCS#12");
  if (file.find("-----BEGIN ") != file.npos) {
    made = of_pem(file, password, what);
  } else if (Bio bio = reading(file); bio) {
    Pkcs12 held(d2i_PKCS12_bio(bio.get(), nullptr));
    if (held) made = of_pkcs12(std::move(held), password, what);
  }
  ERR_clear_error();  // what somebody else's call of OpenSSL would find
  return made;
}

}  // namespace radl
