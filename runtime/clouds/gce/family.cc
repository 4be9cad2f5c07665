// The clouds that there are credentials for.
#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "common/http/http.h"
#include "runtime/clouds/gce/gce_cloud.h"
#include "runtime/clouds/gce/zones.h"

namespace radl::gce {
namespace {

class Family : public CloudFamily {
 public:
  explicit Family(LoadOptions load) : load_(std::move(load)) {}
  const std::string& type() const override { return type_; }

  std::string region_for(const ir::Node& node) const override {
    if (std::string named = region_named(node); !named.empty()) return named;
    const Result<Options>& options = loaded();
    return options.ok() ? options->places.region : "";
  }

  Result<std::unique_ptr<Cloud>> make(const CloudId& id) override {
    const Result<Options>& options = loaded();
    if (!options.ok()) return options.status();
    if (id.region.empty())
      return invalid("cloud gce: no region is named")
          .with_hint(
              "set CLOUDSDK_COMPUTE_REGION, `gcloud config set compute/region NAME`, or the file's "
              "availability_zone = 'europe-west1-b'");
    if (!is_region_name(id.region)) return invalid(fmt::format("cloud gce: '{}' is no region", id.region));
    auto settings = options->settings(id.account);
    // A plan needs no credentials: what asks the cloud says that there are none.
    if (!settings.ok() && settings.status().code() != Code::NotFound) return settings.status();
    const google::Settings& places = options->places;
    return make_cloud(id, *http_, *options, std::move(settings),
                      places.region == id.region ? places.zone : "");
  }

 private:
  const Result<Options>& loaded() const {
    std::call_once(once_, [this] {
      http_ = std::make_unique<http::Client>();
      options_.emplace(load_());
    });
    return *options_;
  }

  const std::string type_ = "gce";
  const LoadOptions load_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<http::Client> http_;
  mutable std::optional<Result<Options>> options_;
};

}  // namespace

Result<Options> options_from_environment() {
  Options options;
  auto timing = timing_from(google::process_environment, "RADL_GCE", options.timing);
  if (!timing.ok()) return timing.status();
  options.timing = *timing;
  auto caller = caller_from(google::process_environment);
  if (!caller.ok()) return caller.status();
  options.caller = *caller;
  options.places = google::load_places();
  options.settings = [](const std::string&) { return google::load_settings(); };
  return options;
}

std::unique_ptr<CloudFamily> make_family(LoadOptions load) {
  return std::make_unique<Family>(std::move(load));
}

}  // namespace radl::gce
