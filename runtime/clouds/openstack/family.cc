// The clouds that there are credentials for.
#include <fmt/format.h>

#include "common/http/url.h"
#include "common/openstack/egi.h"
#include "common/text.h"
#include "runtime/clouds/loaded.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/openstack_cloud.h"

namespace radl::openstack {
namespace {

bool is_of_site(const Settings& settings, const EgiImageUrl& image) {
  if (settings.egi_site.empty() || (!image.vo.empty() && settings.egi_vo != image.vo)) return false;
  return image.site.empty() || equal_ignoring_case(settings.egi_site, image.site);
}

class Family : public LoadedFamily<Options> {
 public:
  Family(const Environment& environment, LoadOptions load, std::string account)
      : LoadedFamily(provider(), environment, std::move(load)), account_(std::move(account)) {}

  // ost://HOST[:PORT]/IMAGE names Keystone's host, egi://SITE/NAME?VO a site of EGI's and an organisation.
  bool serves_image(const std::string& account, const std::string& url) const override {
    const auto options = loaded().options();
    if (!options.ok()) return true;
    auto settings = (*options)->settings(account);
    if (auto egi = parse_egi_image(url); egi.ok()) return settings.ok() && is_of_site(*settings, *egi);
    if (!url.starts_with("ost://")) return true;
    const std::string host = url.substr(6, url.find_first_of(":/", 6) - 6);
    if (!settings.ok() || host.empty()) return true;
    // Which Keystone a site of EGI's has is not known here; another account may say that it is its own.
    if (!settings->egi_site.empty()) return false;
    auto keystone = http::parse_url(settings->of("auth_url"));
    return !keystone.ok() || equal_ignoring_case(keystone->host, host);
  }

 private:
  std::string named_region(const ir::Node& node) const override { return region_named(node); }
  std::string usual_region(const Options& options) const override {
    auto settings = options.settings(account_);
    return settings.ok() ? settings->region : "";
  }

  Result<std::unique_ptr<Cloud>> make_of(const CloudId& id, http::Client& http, const Options& options,
                                         SettingsOf settings) override {
    if (settings.ok()) settings->region = id.region;
    return make_cloud(id, http, options, std::move(settings));
  }

  const std::string account_;
};

}  // namespace

Result<Options> options_of(http::Client& http) {
  Options options;
  if (Status taken = take_timing(http.environment(), "RADL_OPENSTACK", options); !taken.ok()) return taken;
  auto configuration = Configuration::load(http.environment());
  if (!configuration.ok()) return configuration.status();
  options.settings = [configuration = *configuration](const std::string& account) {
    return configuration->cloud(account);
  };
  return options;
}

std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load,
                                         const std::string& account) {
  return std::make_unique<Family>(environment, std::move(load), account);
}

}  // namespace radl::openstack
