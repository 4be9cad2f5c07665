// Where clouds.yaml, secure.yaml and clouds-public.yaml are, and what they say.
#include <fmt/format.h>

#include <algorithm>

#include "common/files.h"
#include "common/machine_identity.h"
#include "common/openstack/settings.h"
#include "common/text.h"
#include "common/user_text.h"
#include "common/yaml_document.h"

namespace radl::openstack {
namespace {

using Written = std::map<std::string, std::string>;
using Clouds = std::map<std::string, Written>;

constexpr size_t kLargestFile = size_t{4} << 20;
constexpr int kDeepestCloud = 16;
constexpr size_t kMostValues = 100'000;

// Aliases could make a small text huge.
Status flatten(const YamlNode& node, const std::string& key, int depth, Written& out) {
  if (depth > kDeepestCloud) return invalid("is nested too deeply");
  if (out.size() > kMostValues) return invalid("contains too many values");
  if (node.is_scalar()) {
    if (!node.is_null()) out[key] = node.text();
    return {};
  }
  for (const auto& [name, value] : node.entries()) {
    if (!name.is_scalar()) return invalid("a key is not a string");
    const std::string inner = key.empty() ? name.text() : key + "." + name.text();
    if (Status done = flatten(value, inner, depth + 1, out); !done.ok()) return done;
  }
  const std::vector<YamlNode> items = node.items();
  for (size_t i = 0; i < items.size(); ++i)
    if (Status done = flatten(items[i], fmt::format("{}.{}", key, i), depth + 1, out); !done.ok())
      return done;
  return {};
}

Result<Clouds> clouds_in(const YamlNode& root, const std::string& top) {
  Clouds clouds;
  const YamlNode all = root.find(top);
  if (all.is_null()) return clouds;
  if (!all.is_map()) return invalid("`" + top + "` is not a map");
  for (const auto& [name, settings] : all.entries()) {
    if (!name.is_scalar()) return invalid("the name of a cloud is not a string");
    Written& written = clouds[name.text()];
    if (Status done = flatten(settings, "", 0, written); !done.ok()) return done;
  }
  return clouds;
}

void lay_over(Clouds& clouds, const Clouds& over) {
  for (const auto& [name, written] : over)
    for (const auto& [key, value] : written) clouds[name][key] = value;
}

}  // namespace

Result<Clouds> parse_clouds(std::string_view text, const std::string& file, const std::string& top) {
  YamlDocument document;
  YamlFault fault;
  if (!document.load(text, fault)) return invalid(fmt::format("{}:{}: is not YAML", file, fault.line));
  auto clouds = clouds_in(document.root(), top);
  return clouds.ok() ? clouds : Result<Clouds>(std::move(clouds).status().at(file));
}

// Finds and merges the files.
class FileReader {
 public:
  explicit FileReader(const Lookup& environment) : environment_(environment) {
    std::string config = environment_("XDG_CONFIG_HOME");
    if (config.empty() && !environment_("HOME").empty()) config = environment_("HOME") + "/.config";
    const bool open = machine_identity_is_open(environment_);
    if (open) folders_ = {"."};
    if (!config.empty()) folders_.push_back(config + "/openstack");
    if (open) folders_.push_back("/etc/openstack");
  }

  Status read(Configuration& configuration) {
    auto clouds = first_of("clouds", "OS_CLIENT_CONFIG_FILE", "clouds", &configuration);
    if (!clouds.ok()) return clouds.status();
    auto secrets = first_of("secure", "OS_CLIENT_SECURE_FILE", "clouds", nullptr);
    if (!secrets.ok()) return secrets.status();
    lay_over(*clouds, *secrets);
    if (Status vendors = add_profiles(*clouds); !vendors.ok()) return vendors;
    configuration.clouds_ = std::move(*clouds);
    add_variables(configuration);
    choose(configuration);
    return {};
  }

 private:
  // The file named by the variable, else the first existing one; empty if none.
  Result<Clouds> first_of(const std::string& stem, const char* variable, const std::string& top,
                          Configuration* configuration) {
    std::vector<std::string> paths;
    const std::string named = environment_(variable);
    if (!named.empty()) paths.push_back(named);
    for (const std::string& folder : folders_)
      for (const char* extension : {".yaml", ".yml", ".json"})
        paths.push_back(folder + "/" + stem + extension);
    for (const std::string& path : paths) {
      auto text = read_file(path, kLargestFile);
      if (!text.ok() && text.status().code() == Code::NotFound && path != named) continue;
      if (!text.ok()) return Status(text.status()).at(path == named ? variable : "OpenStack");
      if (configuration) configuration->file_ = path;
      return parse_clouds(*text, path, top);
    }
    if (configuration) configuration->looked_in_ = folders_;
    return Clouds();
  }

  // `profile: NAME` uses that vendor's entry in clouds-public.yaml as the base.
  Status add_profiles(Clouds& clouds) {
    auto vendors = first_of("clouds-public", "OS_CLIENT_VENDOR_FILE", "public-clouds", nullptr);
    if (!vendors.ok()) return vendors.status();
    for (auto& [name, written] : clouds) {
      auto named = written.find("profile");
      if (named == written.end()) named = written.find("cloud");
      if (named == written.end()) continue;
      auto vendor = vendors->find(named->second);
      // Reported when this cloud is used: other clouds remain usable.
      if (vendor == vendors->end()) continue;
      for (const auto& [key, value] : vendor->second) written.emplace(key, value);
      written["profile_found"] = "yes";
    }
    return {};
  }

  // OS_USERNAME is "username", and so on.
  void add_variables(Configuration& configuration) const {
    static constexpr const char* kNames[] = {"AUTH_URL",
                                             "AUTH_TYPE",
                                             "USERNAME",
                                             "USER_ID",
                                             "PASSWORD",
                                             "USER_DOMAIN_NAME",
                                             "USER_DOMAIN_ID",
                                             "PROJECT_NAME",
                                             "PROJECT_ID",
                                             "TENANT_NAME",
                                             "TENANT_ID",
                                             "PROJECT_DOMAIN_NAME",
                                             "PROJECT_DOMAIN_ID",
                                             "DOMAIN_NAME",
                                             "DOMAIN_ID",
                                             "SYSTEM_SCOPE",
                                             "TRUST_ID",
                                             "TOKEN",
                                             "APPLICATION_CREDENTIAL_ID",
                                             "APPLICATION_CREDENTIAL_NAME",
                                             "APPLICATION_CREDENTIAL_SECRET",
                                             "IDENTITY_PROVIDER",
                                             "PROTOCOL",
                                             "ACCESS_TOKEN",
                                             "DEFAULT_DOMAIN_NAME",
                                             "DEFAULT_DOMAIN_ID",
                                             "REGION_NAME",
                                             "INTERFACE",
                                             "CACERT",
                                             "CERT",
                                             "INSECURE"};
    Written written;
    for (const char* name : kNames)
      if (std::string value = environment_(std::string("OS_") + name); !value.empty())
        written[to_lower(name)] = std::move(value);
    if (std::string type = environment_("OS_ENDPOINT_TYPE"); !type.empty() && !written.count("interface"))
      written["interface"] = std::move(type);
    for (const char* service : {"COMPUTE", "NETWORK", "IMAGE", "VOLUME", "OBJECT_STORE"}) {
      const std::string key = std::string(service) + "_ENDPOINT_OVERRIDE";
      if (std::string value = environment_("OS_" + key); !value.empty())
        written[to_lower(key)] = std::move(value);
    }
    if (written.count("auth_url")) configuration.clouds_["envvars"] = written;
    configuration.variables_ = std::move(written);
  }

  void choose(Configuration& configuration) const {
    configuration.default_ = environment_("OS_CLOUD");
    if (!configuration.default_.empty()) return;
    if (configuration.clouds_.count("envvars"))
      configuration.default_ = "envvars";
    else if (configuration.clouds_.size() == 1)
      configuration.default_ = configuration.clouds_.begin()->first;
  }

  const Lookup& environment_;
  std::vector<std::string> folders_;
};

Result<std::shared_ptr<const Configuration>> Configuration::load(Lookup environment) {
  auto made = std::make_shared<Configuration>();
  made->environment_ = std::move(environment);
  if (Status read = FileReader(made->environment_).read(*made); !read.ok()) return read;
  return std::shared_ptr<const Configuration>(std::move(made));
}

std::vector<std::string> Configuration::names() const {
  std::vector<std::string> names;
  for (const auto& [name, written] : clouds_) names.push_back(name);
  return names;
}

Result<Settings> Configuration::cloud(const std::string& name) const {
  const std::string wanted = name.empty() ? default_ : name;
  auto found = clouds_.find(wanted);
  if (found == clouds_.end()) {
    if (clouds_.empty())
      return not_found("no OpenStack credentials: OS_AUTH_URL is not set, and no clouds.yaml exists in " +
                       join(looked_in_, ", "))
          .with_hint("Put the cloud's clouds.yaml into ~/.config/openstack, or source its openrc file.");
    if (wanted.empty())
      return not_found(file_ + " contains several clouds: " + join(names(), ", "))
          .with_hint("Select one with OS_CLOUD=NAME.");
    const std::string near = nearest(wanted, names());
    return not_found(
               fmt::format("cloud \"{}\" not found in {}", wanted, file_.empty() ? "clouds.yaml" : file_))
        .with_hint(near.empty() ? "Use one of " + join(names(), ", ") + "." : "Did you mean " + near + "?");
  }
  const std::string origin =
      wanted == "envvars" ? "the variables OS_*" : fmt::format("cloud \"{}\" of {}", wanted, file_);
  const Written& written = found->second;
  if (written.count("profile") && !written.count("profile_found") && !written.count("auth.auth_url"))
    return invalid(fmt::format("{}: profile '{}' not found in any clouds-public.yaml", origin,
                               written.at("profile")))
        .with_hint("Write auth_url and region_name into the cloud itself.");
  if (wanted != default_ || wanted == "envvars") return settings_of(written, wanted, origin);
  return settings_of(with_variables(written, variables_), wanted, origin);
}

}  // namespace radl::openstack
