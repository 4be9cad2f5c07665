#include "common/aws/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "common/files.h"
#include "common/http/url.h"
#include "common/text.h"
#include "common/user_text.h"

namespace radl::aws {
namespace {

std::string or_else(std::string value, std::string other) { return value.empty() ? other : value; }

std::string expand_home(std::string path, const std::string& home) {
  return path == "~" || path.starts_with("~/") ? home + path.substr(1) : path;
}

// A missing file has no sections; an unreadable file is an error.
Result<Sections> read_sections(const std::string& path, FileKind kind) {
  auto text = read_user_text(path, size_t{4} << 20);
  if (text.ok()) return parse_profiles(*text, path, kind);
  if (text.status().code() == Code::NotFound) return Sections{};
  return text.status();
}

const Section* find(const Sections& sections, const std::string& key) {
  const auto at = sections.find(key);
  return at == sections.end() ? nullptr : &at->second;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? char(c - 32) : c;
  return out;
}

Result<std::string> checked_url(const std::string& url, const std::string& from) {
  auto parsed = http::parse_http_url(url, from);
  if (!parsed.ok()) return parsed.status();
  if (url.find_first_of("?#") != std::string::npos)
    return invalid(from + ": \"" + http::printable_url(url) +
                   "\" contains a query; an endpoint must not have one");
  if (auto path = http::percent_decode(parsed->path); !path.ok()) return Status(path.status()).at(from);
  return url.ends_with("/") ? url.substr(0, url.size() - 1) : url;
}

}  // namespace

Result<std::shared_ptr<const Configuration>> Configuration::load(Lookup environment,
                                                                 const std::string& profile) {
  auto made = std::make_shared<Configuration>();
  made->environment_ = std::move(environment);
  const std::string named =
      or_else(profile, or_else(made->environment_("AWS_PROFILE"), made->environment_("AWS_DEFAULT_PROFILE")));
  made->profile_ = or_else(named, "default");
  const std::string home = made->home(),
                    config = expand_home(
                        or_else(made->environment_("AWS_CONFIG_FILE"), home + "/.aws/config"), home),
                    keys = expand_home(or_else(made->environment_("AWS_SHARED_CREDENTIALS_FILE"),
                                               home + "/.aws/credentials"),
                                       home);
  auto config_sections = read_sections(config, FileKind::Config);
  if (!config_sections.ok()) return config_sections.status();
  made->config_ = std::move(*config_sections);
  auto key_sections = read_sections(keys, FileKind::Credentials);
  if (!key_sections.ok()) return key_sections.status();
  made->credentials_ = std::move(*key_sections);
  if (!named.empty() && named != "default" && !made->config_profile(named) &&
      !made->credentials_profile(named)) {
    return Status(Code::NotFound, "profile \"" + named + "\" not found in " + config + " or " + keys)
        .with_hint("Its section is [profile " + named + "] in the config file and [" + named +
                   "] in the credentials file.");
  }
  return std::shared_ptr<const Configuration>(std::move(made));
}

std::string Configuration::home() const { return environment_("HOME"); }

const Section* Configuration::config_profile(const std::string& name) const {
  return find(config_, "profile " + name);
}
const Section* Configuration::credentials_profile(const std::string& name) const {
  return find(credentials_, "profile " + name);
}
const Section* Configuration::sso_session(const std::string& name) const {
  return find(config_, "sso-session " + name);
}

std::string Configuration::setting(const std::string& variable, const std::string& name) const {
  if (!variable.empty()) {
    if (std::string value = environment_(variable); !value.empty()) return value;
  }
  for (const Section* section : {config_profile(profile_), credentials_profile(profile_)}) {
    if (section && section->has(name)) return section->get(name);
  }
  return {};
}

Result<std::string> Configuration::region() const {
  const std::string region = or_else(environment_("AWS_REGION"), setting("AWS_DEFAULT_REGION", "region"));
  if (!region.empty() && !is_region_name(region))
    return invalid("\"" + region + "\" is not an AWS region (from profile " + profile_ +
                   " or the environment)");
  return region;
}

Result<std::string> Configuration::configured_endpoint(const std::string& service) const {
  auto named = named_endpoint(service);
  if (!named.ok() || !named->empty()) return named;
  // Their names follow no rule over services and regions, and calling others would not be what was asked for.
  for (const auto& [kind, variable, name] :
       {std::tuple{"FIPS", "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint"},
        std::tuple{"dual-stack", "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint"}}) {
    if (!equal_ignoring_case(setting(variable, name), "true")) continue;
    return invalid(
               fmt::format("{} (or {} of profile {}) is true, but radlc does not know the {} endpoint of {}",
                           variable, name, profile_, kind, service))
        .with_hint(
            fmt::format("Set AWS_ENDPOINT_URL_{}=https://..., or {}=false.", upper(service), variable));
  }
  return std::string();
}

Result<std::string> Configuration::named_endpoint(const std::string& service) const {
  if (equal_ignoring_case(setting("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls"),
                          "true"))
    return std::string();
  for (const std::string& variable :
       {"AWS_ENDPOINT_URL_" + upper(service), std::string("AWS_ENDPOINT_URL")}) {
    if (std::string url = environment_(variable); !url.empty()) return checked_url(url, variable);
  }
  const Section* profile = config_profile(profile_);
  if (!profile) return std::string();
  if (profile->has("services")) {
    const std::string name = profile->get("services");
    const Section* services = find(config_, "services " + name);
    if (!services) return invalid(profile->place("services") + ": section [services " + name + "] not found");
    const std::string key = service + ".endpoint_url";
    if (services->has(key)) return checked_url(services->get(key), services->place(key));
  }
  if (profile->has("endpoint_url"))
    return checked_url(profile->get("endpoint_url"), profile->place("endpoint_url"));
  return std::string();
}

std::string Configuration::ca_bundle() const {
  return expand_home(setting("AWS_CA_BUNDLE", "ca_bundle"), home());
}

Result<int> Configuration::max_attempts() const {
  const std::string text = setting("AWS_MAX_ATTEMPTS", "max_attempts");
  if (text.empty()) return 0;
  int attempts = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), attempts);
  if (error != std::errc() || end != text.data() + text.size() || attempts < 1 || attempts > 1000)
    return invalid("AWS_MAX_ATTEMPTS (or max_attempts of profile " + profile_ + "): \"" + text +
                   "\" is not a number from 1 to 1000");
  return attempts;
}

bool is_region_name(const std::string& text) {
  return !text.empty() && text.size() <= 40 && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

std::string domain_of_region(const std::string& region) {
  struct Partition {
    const char *prefix, *domain;
  };
  // AWS General Reference, "Partitions".
  static constexpr Partition kPartitions[] = {{"cn-", "amazonaws.com.cn"},    {"us-iso-", "c2s.ic.gov"},
                                              {"us-isob-", "sc2s.sgov.gov"},  {"us-isof-", "csp.hci.ic.gov"},
                                              {"eu-isoe-", "cloud.adc-e.uk"}, {"eusc-", "amazonaws.eu"}};
  for (const auto& partition : kPartitions) {
    if (region.starts_with(partition.prefix)) return partition.domain;
  }
  return "amazonaws.com";
}

std::string default_endpoint(const std::string& service, const std::string& region) {
  const std::string domain = domain_of_region(region);
  if (service == "iam") {
    if (region.starts_with("cn-")) return "https://iam.cn-north-1." + domain;
    if (region.starts_with("us-gov-")) return "https://iam.us-gov." + domain;
    if (domain == "amazonaws.com") return "https://iam.amazonaws.com";
  }
  std::string host = service;
  if (service == "sso_oidc") host = "oidc";
  if (service == "sso") host = "portal.sso";
  if (service == "service_quotas") host = "servicequotas";
  return "https://" + host + "." + region + "." + domain;
}

Result<std::string> endpoint_of(const Configuration& configuration, const std::string& service,
                                const std::string& region) {
  auto configured = configuration.configured_endpoint(service);
  if (!configured.ok() || !configured->empty()) return configured;
  return default_endpoint(service, region);
}

}  // namespace radl::aws
