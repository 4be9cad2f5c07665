// How Google Cloud is reached and by whom: the variables and files of gcloud and of Google's libraries, in
// the order in which those look ("Application Default Credentials"). Source: Google Cloud documentation, "How
// Application Default Credentials works"; gcloud topic configurations; google.aip.dev/auth/4110.
#pragma once

#include <string>

#include "common/environment.h"
#include "common/google/credentials.h"
#include "common/status.h"

namespace radl::google {

struct Settings {
  Credential credential;
  std::string project;  // "": the metadata server's where that gives the credential, else none
  std::string region, zone;
  std::string compute_url;  // ends with '/': "https://compute.googleapis.com/compute/v1/"
};

// The credential of GOOGLE_APPLICATION_CREDENTIALS, else of gcloud's application_default_credentials.json,
// else of the metadata server on a machine of Google's; with project, region and zone of the variables
// CLOUDSDK_CORE_PROJECT, GOOGLE_CLOUD_PROJECT, CLOUDSDK_COMPUTE_REGION, .._ZONE, of gcloud's active
// configuration, or of the key file. Reads no network. NotFound: there is no credential; Invalid names the
// file that cannot be used. What the file says is never in an error.
Result<Settings> load_settings(const Lookup& environment);

// As above without a credential: what a plan needs.
Settings load_places(const Lookup& environment);

// A credential of the text of a key file or of application default credentials. `origin` is for messages.
Result<Credential> parse_credential(const std::string& text, const std::string& origin,
                                    std::string* project = nullptr);

// "europe-west1" of "europe-west1-b".
std::string region_of_zone(const std::string& zone);

}  // namespace radl::google
