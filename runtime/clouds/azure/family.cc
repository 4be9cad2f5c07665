// The clouds that there are credentials for.
#include <fmt/format.h>

#include "runtime/clouds/azure/azure_cloud.h"
#include "runtime/clouds/azure/places.h"
#include "runtime/clouds/loaded.h"

namespace radl::azure {
namespace {

class Family : public CloudFamily {
 public:
  explicit Family(LoadOptions load) : loaded_(std::move(load)) {}
  const std::string& type() const override { return type_; }
  std::vector<std::string> image_schemes() const override { return {"azr"}; }

  bool has_credentials(const std::string& account) const override {
    const Result<Options>& options = loaded_.options();
    return options.ok() && options->settings(account).ok();
  }

  std::string region_for(const ir::Node& node) const override {
    if (std::string named = region_named(node); !named.empty()) return named;
    const Result<Options>& options = loaded_.options();
    return options.ok() ? options->places.location : "";
  }

  Result<std::unique_ptr<Cloud>> make(const CloudId& id) override {
    const Result<Options>& options = loaded_.options();
    if (!options.ok()) return options.status();
    if (id.region.empty())
      return invalid("cloud azure: no region is named")
          .with_hint(
              "set AZURE_DEFAULTS_LOCATION, `az config set defaults.location=NAME`, or the file's "
              "availability_zone = 'westeurope'");
    if (!is_region_name(id.region)) return invalid(fmt::format("cloud azure: '{}' is no region", id.region));
    auto settings = options->settings(id.account);
    // A plan needs no credentials: what asks the cloud says that there are none.
    if (!settings.ok() && settings.status().code() != Code::NotFound) return settings.status();
    return make_cloud(id, loaded_.http(), *options, std::move(settings));
  }

 private:
  const std::string type_ = "azure";
  const Loaded<Options> loaded_;
};

}  // namespace

Result<Options> options_from_environment() {
  Options options;
  if (Status taken = take_timing(process_environment, "RADL_AZURE", options); !taken.ok()) return taken;
  options.places = load_places();
  options.settings = [](const std::string&) { return load_settings(); };
  return options;
}

std::unique_ptr<CloudFamily> make_family(LoadOptions load) {
  return std::make_unique<Family>(std::move(load));
}

}  // namespace radl::azure
