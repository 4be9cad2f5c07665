// Loads a client's certificate and private key from a file as one unencrypted PEM text.
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

// `file`: PEM (the key may be encrypted, PKCS#8) or PKCS#12. Returns the private key followed by
// its certificate. Invalid: the password is wrong or missing, or the file lacks a part. The error
// names `what` ("AZURE_CLIENT_CERTIFICATE_PATH: /home/me/client.pfx") and contains nothing of the
// file.
Result<std::string> plain_certificate(const std::string& file, const std::string& password,
                                      const std::string& what);

}  // namespace radl
