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
    Federated,    // workload identity federation: somebody else's token, in a file, is the assertion
    Machine,      // the managed identity of the virtual machine that this runs on
    AppService,   // the managed identity of an App Service, Functions or Container Apps
    Arc,          // the managed identity of a machine elsewhere that Azure Arc manages
    Az,           // whoever is logged in with `az`: it is asked for a token
    Login,        // the same by az's plain files, where there is no `az`: a refresh token
    Password,     // a user's name and password (auth files of the Infrastructure Manager)
  };
  Kind kind = Kind::None;
  std::string origin;  // "the environment", "az login", "the managed identity"

  std::string tenant, client_id;  // client_id of Machine and AppService: a user-assigned identity, or ""
  std::string secret;             // Secret
  std::string certificate;        // Certificate: private key and certificate, PEM
  std::string token_file;         // Federated: read anew each time, since it is renewed by others
  std::string endpoint,
      header;                 // Machine, AppService, Arc: the URL; AppService: the value of X-IDENTITY-HEADER
  std::string key_folder;     // Arc: in it lies the file that proves that a caller may read such files
  std::string refresh_token;  // Login
  std::string username, password;               // Password
  std::shared_ptr<const Credential> otherwise;  // Machine: where it has no identity; may be null
};

}  // namespace radl::azure
