// The clouds that there are credentials for.
#include <fmt/format.h>

#include "common/http/url.h"
#include "common/text.h"
#include "runtime/clouds/loaded.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/openstack_cloud.h"

namespace radl::openstack {
namespace {

class Family : public CloudFamily {
 public:
  Family(LoadOptions load, std::string account) : loaded_(std::move(load)), account_(std::move(account)) {}
  const std::string& type() const override { return type_; }
  std::vector<std::string> image_schemes() const override { return {"ost", "appdb"}; }

  bool has_credentials(const std::string& account) const override {
    const Result<Options>& options = loaded_.options();
    return options.ok() && options->settings(account).ok();
  }

  // ost://HOST[:PORT]/IMAGE names Keystone's host.
  bool serves_image(const std::string& account, const std::string& url) const override {
    const Result<Options>& options = loaded_.options();
    if (!options.ok() || !url.starts_with("ost://")) return true;
    auto settings = options->settings(account);
    const std::string host = url.substr(6, url.find_first_of(":/", 6) - 6);
    if (!settings.ok() || host.empty()) return true;
    auto keystone = http::parse_url(settings->of("auth_url"));
    return !keystone.ok() || equal_ignoring_case(keystone->host, host);
  }

  std::string region_for(const ir::Node& node) const override {
    if (std::string named = region_named(node); !named.empty()) return named;
    const Result<Options>& options = loaded_.options();
    if (!options.ok()) return "";
    auto settings = options->settings(account_);
    return settings.ok() ? settings->region : "";
  }

  Result<std::unique_ptr<Cloud>> make(const CloudId& id) override {
    const Result<Options>& options = loaded_.options();
    if (!options.ok()) return options.status();
    auto settings = options->settings(id.account);
    // A plan needs no credentials: what asks the cloud says that there are none.
    if (!settings.ok() && settings.status().code() != Code::NotFound) return settings.status();
    if (settings.ok()) settings->region = id.region;
    return make_cloud(id, loaded_.http(), *options, std::move(settings));
  }

 private:
  const std::string type_ = "openstack";
  const Loaded<Options> loaded_;
  const std::string account_;
};

}  // namespace

Result<Options> options_from_environment() {
  Options options;
  if (Status taken = take_timing(process_environment, "RADL_OPENSTACK", options); !taken.ok()) return taken;
  auto configuration = Configuration::load();
  if (!configuration.ok()) return configuration.status();
  options.settings = [configuration = *configuration](const std::string& account) {
    return configuration->cloud(account);
  };
  return options;
}

std::unique_ptr<CloudFamily> make_family(LoadOptions load, const std::string& account) {
  return std::make_unique<Family>(std::move(load), account);
}

}  // namespace radl::openstack
