// The clouds that there are credentials for.
#include <fmt/format.h>

#include "runtime/clouds/gce/gce_cloud.h"
#include "runtime/clouds/gce/zones.h"
#include "runtime/clouds/loaded.h"

namespace radl::gce {
namespace {

class Family : public LoadedFamily<Options> {
 public:
  Family(const Environment& environment, LoadOptions load)
      : LoadedFamily(provider(), environment, std::move(load)) {}

 private:
  std::string named_region(const ir::Node& node) const override { return region_named(node); }
  std::string usual_region(const Options& options) const override { return options.places.region; }

  Status check_region(const std::string& region) const override {
    if (region.empty())
      return invalid("cloud gce: no region is named")
          .with_hint(
              "set CLOUDSDK_COMPUTE_REGION, `gcloud config set compute/region NAME`, or the file's "
              "availability_zone = 'europe-west1-b'");
    return is_region_name(region) ? Status()
                                  : invalid(fmt::format("cloud gce: '{}' is not a region", region));
  }

  Result<std::unique_ptr<Cloud>> make_of(const CloudId& id, http::Client& http, const Options& options,
                                         SettingsOf settings) override {
    const google::Settings& places = options.places;
    return make_cloud(id, http, options, std::move(settings), places.region == id.region ? places.zone : "");
  }
};

}  // namespace

Result<Options> options_of(http::Client& http) {
  Options options;
  if (Status taken = take_timing(http.environment(), "RADL_GCE", options); !taken.ok()) return taken;
  options.places = google::load_places(http.environment());
  options.settings = [environment = http.environment()](const std::string&) {
    return google::load_settings(environment);
  };
  return options;
}

std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load) {
  return std::make_unique<Family>(environment, std::move(load));
}

}  // namespace radl::gce
