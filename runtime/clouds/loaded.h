// What a family of clouds is given when one of it is first asked for: its options and its connections.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/http/http.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/timing.h"

namespace radl {

template <class Options>
class Loaded {
 public:
  // `http` outlives what is made of the options.
  using Load = std::function<Result<Options>(http::Client& http)>;
  explicit Loaded(Load load) : load_(std::move(load)) {}
  explicit Loaded(std::function<Result<Options>()> load)
      : load_([load = std::move(load)](http::Client&) { return load(); }) {}

  const Result<Options>& options() const {
    std::call_once(once_, [this] {
      http_ = std::make_unique<http::Client>();
      options_.emplace(load_(*http_));
    });
    return *options_;
  }
  http::Client& http() const {  // of what options() has been called for
    return *http_;
  }

 private:
  const Load load_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<http::Client> http_;
  mutable std::optional<Result<Options>> options_;
};

// A family of clouds of which Options::settings says an account's: what is the same in all of them.
template <class Options>
class LoadedFamily : public CloudFamily {
 public:
  LoadedFamily(std::string type, std::vector<std::string> image_schemes,
               std::function<Result<Options>()> load)
      : type_(std::move(type)), image_schemes_(std::move(image_schemes)), loaded_(std::move(load)) {}
  const std::string& type() const override { return type_; }
  std::vector<std::string> image_schemes() const override { return image_schemes_; }

  bool has_credentials(const std::string& account) const override {
    const Result<Options>& options = loaded_.options();
    return options.ok() && options->settings(account).ok();
  }
  std::string region_for(const ir::Node& node) const override {
    if (std::string named = named_region(node); !named.empty()) return named;
    const Result<Options>& options = loaded_.options();
    return options.ok() ? usual_region(*options) : "";
  }
  Result<std::unique_ptr<Cloud>> make(const CloudId& id) override {
    const Result<Options>& options = loaded_.options();
    if (!options.ok()) return options.status();
    if (Status right = check_region(id.region); !right.ok()) return right;
    auto settings = options->settings(id.account);
    // A plan needs no credentials: what asks the cloud says that there are none.
    if (!settings.ok() && settings.status().code() != Code::NotFound) return settings.status();
    return make_of(id, loaded_.http(), *options, std::move(settings));
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

  const std::string type_;
  const std::vector<std::string> image_schemes_;
  const Loaded<Options> loaded_;
};

// Options::timing and Options::caller of the environment (timing.h).
template <class Options>
Status take_timing(const EnvironmentOf& environment, const std::string& prefix, Options& options) {
  auto timing = timing_from(environment, prefix, options.timing);
  if (!timing.ok()) return timing.status();
  options.timing = *timing;
  auto caller = caller_from(environment);
  if (!caller.ok()) return caller.status();
  options.caller = *caller;
  return {};
}

}  // namespace radl
