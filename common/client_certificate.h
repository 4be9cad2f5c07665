// A client's certificate and its private key as people have them in a file, as one PEM text that is plain.
#pragma once

#include <string>

#include "common/status.h"

namespace radl {

// `file`: PEM (the key may be encrypted, PKCS#8) or PKCS#12. Private key first, then its certificate.
// Invalid: the password is wrong or lacks, or what the file has not; nothing of it is in the error, which
// names `what`
// ("AZURE_CLIENT_CERTIFICATE_PATH: /home/me/client.pfx").
Result<std::string> plain_certificate(const std::string& file, const std::string& password,
                                      const std::string& what);

}  // namespace radl
