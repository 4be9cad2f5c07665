#include "runtime/clouds/provider.h"

#include <memory>

#include "runtime/clouds/ec2/account.h"
#include "runtime/clouds/ec2/auth_lines.h"
#include "runtime/clouds/ec2/ec2_cloud.h"
#include "runtime/clouds/ec2/price_list.h"
#include "runtime/clouds/provider_parts.h"

namespace radl::ec2 {
namespace {

// Keys of the auth file if that has lines for EC2, else as AWS's own tools find them.
Result<Options> options_with(http::Client& http, const std::shared_ptr<const AuthFile>& auth) {
  Result<Options> options = options_of(http);
  if (!options.ok() || lines_of(auth.get(), provider()).empty()) return options;
  options->credentials =
      [auth](const std::string& account) -> Result<std::shared_ptr<aws::CredentialSource>> {
    auto line = line_of(*auth, provider(), account);
    if (!line.ok()) return line.status();
    return credentials_of(*auth, **line);
  };
  options->has_credentials = [auth](const std::string& account) {
    return line_of(*auth, provider(), account).ok();
  };
  return options;
}

void add_clouds(const CloudSetup& setup, CloudSet& clouds) {
  auto load = [auth = setup.auth](http::Client& http) { return options_with(http, auth); };
  add_with_accounts(setup, provider(), make_family(setup.environment, load), clouds);
}

Result<std::string> region_of(const aws::Configuration& configuration, const std::string& asked) {
  auto region = asked.empty() ? configuration.region() : asked;
  if (!region.ok()) return region;
  if (region->empty()) return provider().default_region;
  if (!aws::is_region_name(*region))
    return invalid("--region: \"" + *region + "\" is not the name of an AWS region");
  return region;
}

Result<std::vector<CredentialEntry>> credentials(const CredentialSearch& search) {
  auto configuration = aws::Configuration::load(search.environment);
  if (!configuration.ok()) return configuration.status();
  auto region = region_of(**configuration, search.region);
  if (!region.ok()) return region.status();
  auto check = [configuration = *configuration, region = *region](
                   http::Client& http, const Result<std::shared_ptr<aws::CredentialSource>>& source,
                   const Stop& stop) {
    if (source.ok()) return look_at_account({http, *configuration, *source, region, stop});
    return CloudAccount{.cloud = provider().type, .region = region, .status = source.status()};
  };
  std::vector<CredentialEntry> entries;
  if (search.auth == nullptr)
    entries.push_back({"aws",
                       [check, configuration = *configuration](http::Client& http, const Stop& stop) {
                         return check(http, aws::default_credentials(http, configuration), stop);
                       },
                       true});
  for (const AuthLine* line : lines_of(search.auth, provider()))
    entries.push_back(
        {line->id, [check, source = credentials_of(*search.auth, *line)](
                       http::Client& http, const Stop& stop) { return check(http, source, stop); }});
  return entries;
}

}  // namespace

const CloudProvider& provider() {
  static const CloudProvider self = {.type = "ec2",
                                     .other_names = {"aws", "amazon"},
                                     .image_schemes = {"aws"},
                                     .auth_types = {"EC2"},
                                     .im_type = "EC2",
                                     .leases_nodes = true,
                                     .default_region = "us-east-1",
                                     .add_clouds = add_clouds,
                                     .credentials = credentials,
                                     .fetch_prices = fetch_price_list};
  return self;
}

}  // namespace radl::ec2
