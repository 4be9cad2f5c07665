// A Google Cloud credential. Holds secrets: never printed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace radl::google {

struct Credential {
  enum class Kind {
    None,
    ServiceAccount,   // a key signs a JWT that is exchanged for a token (RFC 7523)
    AuthorizedUser,   // `gcloud auth application-default login`: a refresh token (RFC 6749, section 6)
    ExternalAccount,  // workload identity federation: exchanges a token of another issuer (RFC 8693)
    WorkforceUser,    // the same for a person: a refresh token of Google's security token service
    Impersonated,     // a service account, impersonated with another credential
    Metadata,         // the identity of this machine
  };
  Kind kind = Kind::None;
  std::string origin;  // "/home/x/key.json", "the metadata server"

  // ServiceAccount: e-mail, key (PEM) and its ID. All kinds but Metadata: the URL that issues tokens.
  std::string account, private_key, key_id, token_url;
  // AuthorizedUser; also the client of an ExternalAccount, if it has one.
  std::string client_id, client_secret, refresh_token;

  // ExternalAccount
  std::string audience, subject_token_type;
  std::string user_project;  // project billed for the exchange of a workforce pool's tokens; may be ""
  std::string subject_file, subject_url;  // exactly one is set: source of the subject token
  std::string aws_url;  // or: URL of AWS's STS, with {region}; the signed request is the token
  std::map<std::string, std::string> subject_headers;  // headers of the request for it
  std::string subject_field;                           // field of a JSON document; "": the whole text

  // ExternalAccount (may be "") and Impersonated.
  std::string impersonation_url;
  std::vector<std::string> delegates;        // intermediate accounts; `source` uses the first
  int impersonation_seconds = 3600;          // requested lifetime of such a token
  std::shared_ptr<const Credential> source;  // Impersonated

  std::string metadata_host;  // Metadata
};

}  // namespace radl::google
