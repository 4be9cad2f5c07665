// An Azure credential. Holds secrets: never printed.
#pragma once

#include <memory>
#include <string>

namespace radl::azure {

struct Credential {
  enum class Kind {
    None,
    Secret,       // a service principal by its secret (RFC 6749, section 4.4)
    Certificate,  // a service principal by its certificate: signs a JWT (RFC 7523)
    Federated,    // workload identity federation: the assertion is a token of another issuer, in a file
    Machine,      // the managed identity of this virtual machine
    AppService,   // the managed identity of an App Service, Functions or Container Apps
    Arc,          // the managed identity of a machine outside Azure that Azure Arc manages
    Az,           // the user logged in with `az`, which supplies the tokens
    Login,        // the same from az's files if `az` is not installed: a refresh token
    Password,     // a user's name and password (auth files of the Infrastructure Manager)
  };
  Kind kind = Kind::None;
  std::string origin;  // "the environment", "az login", "the managed identity"

  std::string tenant, client_id;  // client_id of Machine and AppService: a user-assigned identity, or ""
  std::string secret;             // Secret
  std::string certificate;        // Certificate: private key and certificate, PEM
  std::string token_file;         // Federated: read each time, since another program renews it
  std::string endpoint,
      header;                 // Machine, AppService, Arc: the URL; AppService: the value of X-IDENTITY-HEADER
  std::string key_folder;     // Arc: holds the file that proves the caller may read such files
  std::string refresh_token;  // Login
  std::string username, password;               // Password
  std::shared_ptr<const Credential> otherwise;  // Machine: fallback if it has no identity; may be null
};

}  // namespace radl::azure
