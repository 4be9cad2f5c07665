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
    ServiceAccount,   // a key: signs a JWT that is exchanged for a token (RFC 7523)
    AuthorizedUser,   // `gcloud auth application-default login`: a refresh token (RFC 6749, section 6)
    ExternalAccount,  // workload identity federation: somebody else's token is exchanged (RFC 8693)
    WorkforceUser,    // the same for a person: a refresh token of Google's security token service
    Impersonated,     // a service account, by another credential
    Metadata,         // of the machine that this runs on
  };
  Kind kind = Kind::None;
  std::string origin;  // "/home/x/key.json", "the metadata server"

  // ServiceAccount: e-mail, key (PEM) and its id. All but Metadata: where tokens are asked for.
  std::string account, private_key, key_id, token_url;
  // AuthorizedUser; of an ExternalAccount's client, where it has one.
  std::string client_id, client_secret, refresh_token;

  // ExternalAccount
  std::string audience, subject_token_type;
  std::string user_project;  // of a workforce pool's tokens: who is billed for the exchange; may be ""
  std::string subject_file, subject_url;  // one of these: where the subject token is
  std::string aws_url;  // or: of AWS's STS, with {region}; what signs a request to it is the token
  std::map<std::string, std::string> subject_headers;  // of a request for it
  std::string subject_field;                           // of a JSON document; "": it is the whole text

  // Of ExternalAccount (may be ""), and of Impersonated.
  std::string impersonation_url;
  std::vector<std::string> delegates;        // service accounts in between, the first by the source
  int impersonation_seconds = 3600;          // how long such a token is asked for
  std::shared_ptr<const Credential> source;  // of Impersonated

  std::string metadata_host;  // of Metadata
};

}  // namespace radl::google
