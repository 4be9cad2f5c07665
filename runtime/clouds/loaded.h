// What a family of clouds is given when one of it is first asked for: its options and its connections.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/environment.h"
#include "common/http/http.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/provider.h"
#include "runtime/clouds/timing.h"

namespace radl {

template <class Options>
class Loaded {
 public:
  // `http` outlives what is made of the options.
  using Load = std::function<Result<Options>(http::Client& http)>;
  Loaded(Environment environment, Load load) : environment_(std::move(environment)), load_(std::move(load)) {}

  // A failure is not kept: whoever asks next may have mended its cause. What was loaded stays, where it is.
  Result<const Options*> options() const {
    std::lock_guard lock(mutex_);
    if (!http_) http_ = std::make_unique<http::Client>(environment_);
    if (!options_) {
      auto loaded = load_(*http_);
      if (!loaded.ok()) return loaded.status();
      options_.emplace(std::move(*loaded));
    }
    return &*options_;
  }
  http::Client& http() const {  // of what options() has been called for
    return *http_;
  }

 private:
  const Environment environment_;
  const Load load_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<http::Client> http_;
  mutable std::optional<Options> options_;
};

// A family of clouds of which Options::settings says an account's: what is the same in all of them.
template <class Options>
class LoadedFamily : public CloudFamily {
 public:
  // `provider` outlives the family.
  LoadedFamily(const CloudProvider& provider, Environment environment, typename Loaded<Options>::Load load)
      : provider_(provider), loaded_(std::move(environment), std::move(load)) {}
  const std::string& type() const override { return provider_.type; }
  std::vector<std::string> image_schemes() const override { return provider_.image_schemes; }

  bool has_credentials(const std::string& account) const override {
    const auto options = loaded_.options();
    return options.ok() && (*options)->settings(account).ok();
  }
  std::string region_for(const ir::Node& node) const override {
    if (std::string named = named_region(node); !named.empty()) return named;
    const auto options = loaded_.options();
    return options.ok() ? usual_region(**options) : "";
  }
  Result<std::unique_ptr<Cloud>> make(const CloudId& id) override {
    const auto options = loaded_.options();
    if (!options.ok()) return options.status();
    if (Status right = check_region(id.region); !right.ok()) return right;
    auto settings = (*options)->settings(id.account);
    // A plan needs no credentials: requests to the cloud report that there are none.
    if (!settings.ok() && settings.status().code() != Code::NotFound) return settings.status();
    return make_of(id, loaded_.http(), **options, std::move(settings));
  }

 protected:
  using SettingsOf =
      decltype(std::declval<const Options&>().settings(std::string()));  // NotFound: there are no credentials

  const Loaded<Options>& loaded() const { return loaded_; }

 private:
  virtual std::string named_region(const ir::Node& node) const = 0;  // "": the node names none
  // Where such a node goes; "": nothing says so.
  virtual std::string usual_region(const Options& options) const = 0;
  virtual Status check_region(const std::string&) const { return {}; }
  virtual Result<std::unique_ptr<Cloud>> make_of(const CloudId& id, http::Client& http,
                                                 const Options& options, SettingsOf settings) = 0;

  const CloudProvider& provider_;
  const Loaded<Options> loaded_;
};

// Options::timing and Options::caller of the environment (timing.h).
template <class Options>
Status take_timing(const Lookup& environment, const std::string& prefix, Options& options) {
  auto timing = timing_from(environment, prefix, options.timing);
  if (!timing.ok()) return timing.status();
  options.timing = *timing;
  auto caller = caller_from(environment);
  if (!caller.ok()) return caller.status();
  options.caller = *caller;
  return {};
}

}  // namespace radl
