// The clouds that there are credentials for.
#include <fmt/format.h>

#include "runtime/clouds/azure/azure_cloud.h"
#include "runtime/clouds/azure/places.h"
#include "runtime/clouds/loaded.h"

namespace radl::azure {
namespace {

class Family : public LoadedFamily<Options> {
 public:
  Family(const Environment& environment, LoadOptions load)
      : LoadedFamily(provider(), environment, std::move(load)) {}

 private:
  std::string named_region(const ir::Node& node) const override { return region_named(node); }
  std::string usual_region(const Options& options) const override { return options.places.location; }

  Status check_region(const std::string& region) const override {
    if (region.empty())
      return invalid("cloud azure: no region is named")
          .with_hint(
              "set AZURE_DEFAULTS_LOCATION, `az config set defaults.location=NAME`, or the file's "
              "availability_zone = 'westeurope'");
    if (is_region_name(region)) return {};
    return invalid(fmt::format("cloud azure: '{}' is not a region", region))
        .with_hint("a region is written as eastus, a zone as eastus-1, -2 or -3");
  }

  Result<std::unique_ptr<Cloud>> make_of(const CloudId& id, http::Client& http, const Options& options,
                                         SettingsOf settings) override {
    return make_cloud(id, http, options, std::move(settings));
  }
};

}  // namespace

Result<Options> options_of(http::Client& http) {
  Options options;
  if (Status taken = take_timing(http.environment(), "RADL_AZURE", options); !taken.ok()) return taken;
  options.places = load_places(http.environment());
  options.settings = [environment = http.environment()](const std::string&) {
    return load_settings(environment);
  };
  return options;
}

std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load) {
  return std::make_unique<Family>(environment, std::move(load));
}

}  // namespace radl::azure
