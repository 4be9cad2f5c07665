// Owning handles for OpenSSL objects.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace radl::openssl {

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
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

// Returns a reader of `text`, which must outlive it.
inline Bio reading(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace radl::openssl
