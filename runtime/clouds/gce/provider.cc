#include "runtime/clouds/provider.h"

#include <memory>

#include "runtime/clouds/gce/account.h"
#include "runtime/clouds/gce/auth_lines.h"
#include "runtime/clouds/gce/gce_cloud.h"
#include "runtime/clouds/provider_parts.h"

namespace radl::gce {
namespace {

void add_clouds(const CloudSetup& setup, CloudSet& clouds) {
  auto load = [auth = setup.auth](http::Client& http) {
    return with_lines(options_of(http), auth, provider(), google_settings);
  };
  add_with_accounts(setup, provider(), make_family(setup.environment, load), clouds);
}

Result<std::vector<CredentialEntry>> credentials(const CredentialSearch& search) {
  std::vector<CredentialEntry> entries;
  if (search.auth == nullptr) {
    auto settings = google::load_settings(search.environment);
    if (settings.ok() || settings.status().code() != Code::NotFound)
      entries.push_back(credential_entry(provider().type, provider(), std::move(settings), look_at_google));
  }
  for (const AuthLine* line : lines_of(search.auth, provider()))
    entries.push_back(credential_entry(
        line->id, provider(), google_settings(*search.auth, *line, google::load_places(search.environment)),
        look_at_google));
  return entries;
}

// A key of Google's may name a file of this computer, or an address and headers, to take its token from.
Status check_untrusted(const AuthFile& file, const AuthLine& line) {
  auto settings = google_settings(file, line, {});
  if (settings.ok() && settings->credential.kind != google::Credential::Kind::ServiceAccount)
    return Status(Code::Auth, line.id + ": this service takes only keys of service accounts from its users");
  return check_addresses(line);
}

}  // namespace

const CloudProvider& provider() {
  static const CloudProvider self = {.type = "gce",
                                     .other_names = {"google", "gcp", "gcloud"},
                                     .image_schemes = {"gce"},
                                     .auth_types = {"GCE"},
                                     .im_type = "GCE",
                                     .leases_nodes = true,
                                     .default_region = "us-central1",
                                     .add_clouds = add_clouds,
                                     .credentials = credentials,
                                     .check_untrusted = check_untrusted};
  return self;
}

}  // namespace radl::gce
