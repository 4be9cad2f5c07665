// Google Cloud settings and credentials, from the variables and files that gcloud and Google's libraries
// read, in their order ("Application Default Credentials"). Source: Google Cloud documentation, "How
// Application Default Credentials works"; gcloud topic configurations; google.aip.dev/auth/4110.
#pragma once

#include <string>

#include "common/environment.h"
#include "common/google/credentials.h"
#include "common/status.h"

namespace radl::google {

struct Settings {
  Credential credential;
  std::string project;  // "": from the metadata server if it supplies the credential, else none
  std::string region, zone;
  std::string compute_url;  // ends with '/': "https://compute.googleapis.com/compute/v1/"
};

// Uses the credential of GOOGLE_APPLICATION_CREDENTIALS, else gcloud's application_default_credentials.json,
// else the metadata server on a Google machine. Takes project, region and zone from CLOUDSDK_CORE_PROJECT,
// GOOGLE_CLOUD_PROJECT, CLOUDSDK_COMPUTE_REGION and .._ZONE, from gcloud's active configuration, or from the
// key file. Does not access the network. NotFound: no credential. Invalid: a file is unusable; the error
// names it but contains nothing of it.
Result<Settings> load_settings(const Lookup& environment);

// Like load_settings(), but without a credential: enough for a plan.
Settings load_places(const Lookup& environment);

// Parses a key file or application default credentials. `origin` is for messages.
Result<Credential> parse_credential(const std::string& text, const std::string& origin,
                                    std::string* project = nullptr);

// "europe-west1" of "europe-west1-b".
std::string region_of_zone(const std::string& zone);

}  // namespace radl::google
