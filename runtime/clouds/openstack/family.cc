// The clouds that there are credentials for.
#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "common/http/http.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/openstack_cloud.h"

namespace radl::openstack {
namespace {

class Family : public CloudFamily {
 public:
  Family(LoadOptions load, std::string account) : load_(std::move(load)), account_(std::move(account)) {}
  const std::string& type() const override { return type_; }

  std::string region_for(const ir::Node& node) const override {
    if (std::string named = region_named(node); !named.empty()) return named;
    const Result<Options>& options = loaded();
    if (!options.ok()) return "";
    auto settings = options->settings(account_);
    return settings.ok() ? settings->region : "";
  }

  Result<std::unique_ptr<Cloud>> make(const CloudId& id) override {
    const Result<Options>& options = loaded();
    if (!options.ok()) return options.status();
    auto settings = options->settings(id.account);
    // A plan needs no credentials: what asks the cloud says that there are none.
    if (!settings.ok() && settings.status().code() != Code::NotFound) return settings.status();
    if (settings.ok()) settings->region = id.region;
    return make_cloud(id, *http_, *options, std::move(settings));
  }

 private:
  const Result<Options>& loaded() const {
    std::call_once(once_, [this] {
      http_ = std::make_unique<http::Client>();
      options_.emplace(load_());
    });
    return *options_;
  }

  const std::string type_ = "openstack";
  const LoadOptions load_;
  const std::string account_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<http::Client> http_;
  mutable std::optional<Result<Options>> options_;
};

}  // namespace

Result<Options> options_from_environment() {
  Options options;
  auto timing = timing_from(process_environment, "RADL_OPENSTACK", options.timing);
  if (!timing.ok()) return timing.status();
  options.timing = *timing;
  auto caller = caller_from(process_environment);
  if (!caller.ok()) return caller.status();
  options.caller = *caller;
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
