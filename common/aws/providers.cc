// Credentials of the environment and of profiles.
#include "common/aws/providers.h"

#include <algorithm>

#include "common/process/process.h"
#include "common/text.h"
#include "common/user_text.h"

namespace radl::aws {
namespace {

// Config file before credentials file, but for keys.
class Profile {
 public:
  Profile(const Configuration& configuration, const std::string& name)
      : config_(configuration.config_profile(name)), keys_(configuration.credentials_profile(name)) {}
  bool there() const { return config_ || keys_; }
  const Section* with(const std::string& setting) const {
    for (const Section* s : {config_, keys_}) {
      if (s && s->has(setting)) return s;
    }
    return nullptr;
  }
  bool has(const std::string& setting) const { return with(setting) != nullptr; }
  std::string get(const std::string& setting) const {
    const Section* s = with(setting);
    return s ? s->get(setting) : "";
  }
  // "FILE:LINE" of the first of these settings that exists.
  std::string place(std::initializer_list<const char*> settings) const {
    for (const char* setting : settings) {
      if (const Section* s = with(setting)) return s->place(setting);
    }
    const Section* any = config_ ? config_ : keys_;
    return any->place("");
  }
  const Section* config() const { return config_; }
  const Section* keys() const { return keys_; }

 private:
  const Section *config_, *keys_;
};

std::string quoted(const std::string& name) { return "profile \"" + name + "\""; }

Status incomplete(const std::string& place, const std::string& name, const std::string& what) {
  return {Code::Auth, place + ": " + quoted(name) + " " + what};
}

// The keys of one section; NotFound if it has none.
Result<Credentials> keys_of(const Section* section, const std::string& name) {
  if (!section || (!section->has("aws_access_key_id") && !section->has("aws_secret_access_key")))
    return not_found("no keys");
  Credentials keys{section->get("aws_access_key_id"),
                   section->get("aws_secret_access_key"),
                   section->get("aws_session_token"),
                   {},
                   quoted(name) + " of " + section->file};
  if (keys.access_key.empty())
    return incomplete(section->place("aws_secret_access_key"), name,
                      "sets aws_secret_access_key but not aws_access_key_id");
  if (keys.secret_key.empty())
    return incomplete(section->place("aws_access_key_id"), name,
                      "sets aws_access_key_id but not aws_secret_access_key");
  for (const char* setting : {"aws_access_key_id", "aws_secret_access_key", "aws_session_token"}) {
    if (section->get(setting).find_first_of("\r\n") != std::string::npos)
      return incomplete(section->place(setting), name,
                        std::string("sets ") + setting +
                            " over several lines: an indented line continues the value above it");
  }
  return keys;
}

RoleRequest role_of(const Profile& profile, const std::string& name) {
  return {profile.get("role_arn"), profile.get("role_session_name"), profile.get("external_id"),
          profile.get("duration_seconds"), "role of " + quoted(name)};
}

Result<Credentials> by_credential_source(const Asking& asking, const Profile& profile,
                                         const std::string& name) {
  const std::string source = profile.get("credential_source"), place = profile.place({"credential_source"});
  Result<Credentials> found = not_found("");
  if (source == "Environment") {
    found = environment_credentials(asking);
  } else if (source == "EcsContainer") {
    found = container_credentials(asking);
  } else if (source == "Ec2InstanceMetadata") {
    found = instance_credentials(asking);
  } else {
    return incomplete(
        place, name,
        "sets an unknown credential_source; use Environment, Ec2InstanceMetadata or EcsContainer");
  }
  if (!found.ok() && found.status().code() == Code::NotFound)
    return incomplete(place, name, "takes its keys from " + source + ", which has no keys on this computer");
  return found;
}

Result<Credentials> role_credentials(const Asking& asking, const Profile& profile, const std::string& name,
                                     std::vector<std::string> above) {
  if (profile.has("web_identity_token_file"))
    return assume_role_with_web_identity(asking, role_of(profile, name),
                                         profile.get("web_identity_token_file"));
  const std::string place = profile.place({"role_arn"});
  if (profile.has("mfa_serial"))
    return Status(incomplete(profile.place({"mfa_serial"}), name,
                             "requires a code from an MFA device (mfa_serial)"))
        .with_hint("Run `aws sts get-session-token` and set the keys that it prints in the environment.");
  const bool from_profile = profile.has("source_profile"), from_source = profile.has("credential_source");
  if (from_profile && from_source)
    return incomplete(profile.place({"credential_source"}), name,
                      "sets both source_profile and credential_source; remove one of them");
  if (!from_profile && !from_source)
    return incomplete(place, name,
                      "sets role_arn but none of source_profile, credential_source and "
                      "web_identity_token_file, so no credentials can assume the role");
  Result<Credentials> by = not_found("");
  if (from_source) {
    by = by_credential_source(asking, profile, name);
  } else if (const std::string source = profile.get("source_profile"); source == name) {
    // Its own keys.
    by = keys_of(profile.keys(), name);
    if (!by.ok() && by.status().code() == Code::NotFound) by = keys_of(profile.config(), name);
    if (!by.ok() && by.status().code() == Code::NotFound)
      by = incomplete(profile.place({"source_profile"}), name, "is its own source_profile and has no keys");
  } else {
    above.push_back(name);
    const std::string where = profile.place({"source_profile"});
    if (std::find(above.begin(), above.end(), source) != above.end())
      return incomplete(where, name, "and " + quoted(source) + " name each other as source_profile");
    if (!Profile(asking.configuration, source).there())
      return incomplete(where, name,
                        "sets source_profile = \"" + source + "\", but neither file contains that profile");
    by = profile_credentials(asking, source, above);
    if (!by.ok() && by.status().code() == Code::NotFound)
      by = incomplete(where, name,
                      "sets source_profile = \"" + source + "\", but that profile has no credentials");
  }
  return by.ok() ? assume_role(asking, role_of(profile, name), *by) : by;
}

Result<Credentials> sso_of(const Asking& asking, const Profile& profile, const std::string& name) {
  const std::string place = profile.place({"sso_session", "sso_start_url", "sso_account_id"});
  SsoProfile sso;
  sso.profile = name;
  sso.origin = "SSO of " + quoted(name);
  sso.account = profile.get("sso_account_id");
  sso.role = profile.get("sso_role_name");
  sso.start_url = profile.get("sso_start_url");
  sso.region = profile.get("sso_region");
  if (profile.has("sso_session")) {
    sso.session = profile.get("sso_session");
    const Section* session = asking.configuration.sso_session(sso.session);
    if (!session)
      return incomplete(place, name,
                        "needs the section [sso-session " + sso.session + "], which does not exist");
    sso.start_url = session->get("sso_start_url");
    sso.region = session->get("sso_region");
    if (sso.start_url.empty() || sso.region.empty())
      return Status(Code::Auth, session->place("") + ": [sso-session " + sso.session + "] needs " +
                                    (sso.region.empty() ? "sso_region" : "sso_start_url"));
  }
  for (const auto& [value, setting] : {std::pair{&sso.start_url, "sso_start_url"},
                                       {&sso.region, "sso_region"},
                                       {&sso.account, "sso_account_id"},
                                       {&sso.role, "sso_role_name"}}) {
    if (value->empty()) return incomplete(place, name, std::string("uses SSO but does not set ") + setting);
  }
  if (!is_region_name(sso.region))
    return incomplete(place, name, "sets sso_region to something that is not a region");
  return sso_credentials(asking, sso);
}

}  // namespace

Result<Credentials> environment_credentials(const Asking& asking) {
  const Configuration& c = asking.configuration;
  Credentials keys{c.environment("AWS_ACCESS_KEY_ID"),
                   c.environment("AWS_SECRET_ACCESS_KEY"),
                   c.environment("AWS_SESSION_TOKEN"),
                   {},
                   "environment"};
  if (keys.session_token.empty()) keys.session_token = c.environment("AWS_SECURITY_TOKEN");
  for (const auto& [name, value] :
       {std::pair("AWS_ACCESS_KEY_ID", keys.access_key), std::pair("AWS_SECRET_ACCESS_KEY", keys.secret_key),
        std::pair("AWS_SESSION_TOKEN", keys.session_token)})
    if (Status plain = check_one_line(name, value); !plain.ok()) return plain;
  if (keys.access_key.empty() && keys.secret_key.empty()) return not_found("none in the environment");
  if (keys.access_key.empty() || keys.secret_key.empty())
    return Status(Code::Auth, std::string("environment: ") +
                                  (keys.access_key.empty() ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID") +
                                  " is set but " +
                                  (keys.access_key.empty() ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY") +
                                  " is not set");
  return keys;
}

Result<Credentials> web_identity_environment(const Asking& asking) {
  const Configuration& c = asking.configuration;
  const std::string file = c.environment("AWS_WEB_IDENTITY_TOKEN_FILE"), role = c.environment("AWS_ROLE_ARN");
  if (file.empty()) return not_found("no web identity");
  if (role.empty())
    return Status(Code::Auth, "environment: AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is not");
  return assume_role_with_web_identity(
      asking, {role, c.environment("AWS_ROLE_SESSION_NAME"), "", "", "web identity of the environment"},
      file);
}

Result<Credentials> profile_credentials(const Asking& asking, const std::string& name,
                                        std::vector<std::string> above) {
  const Profile profile(asking.configuration, name);
  if (!profile.there()) return not_found("no " + quoted(name));
  if (profile.has("role_arn")) return role_credentials(asking, profile, name, std::move(above));
  for (const char* setting : {"source_profile", "credential_source", "web_identity_token_file"}) {
    if (profile.has(setting))
      return incomplete(profile.place({setting}), name, std::string("sets ") + setting + " but not role_arn");
  }
  if (profile.has("sso_account_id") || profile.has("sso_role_name") || profile.has("sso_start_url"))
    return sso_of(asking, profile, name);
  auto keys = keys_of(profile.keys(), name);
  if (keys.ok() || keys.status().code() != Code::NotFound) return keys;
  if (profile.has("credential_process"))
    return process_credentials(
        asking.http.environment(), profile.get("credential_process"),
        "credential_process of " + quoted(name) + " (" + profile.place({"credential_process"}) + ")",
        asking.stop);
  keys = keys_of(profile.config(), name);
  if (keys.ok() || keys.status().code() != Code::NotFound) return keys;
  if (profile.has("sso_session")) return sso_of(asking, profile, name);
  if (profile.has("login_session"))
    return incomplete(profile.place({"login_session"}), name,
                      "was created by `aws login`, whose files only AWS's tools can read")
        .with_hint(
            "Create another profile with `credential_process = aws configure export-credentials --profile " +
            name + " --format process`.");
  return keys;
}

Result<std::vector<std::string>> split_command(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;  // a word has begun
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\'') {
      c == '\'' ? void(quote = 0) : word.push_back(c);
    } else if (c == '\\' && i + 1 < text.size() &&
               (quote == 0 || text[i + 1] == '"' || text[i + 1] == '\\')) {
      word.push_back(text[++i]);
      inside = true;
    } else if (quote == '"') {
      c == '"' ? void(quote = 0) : word.push_back(c);
    } else if (c == '\'' || c == '"') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word.push_back(c);
      inside = true;
    }
  }
  if (quote) return invalid("a quotation mark is not closed");
  if (inside) words.push_back(std::move(word));
  if (words.empty()) return invalid("no program");
  return words;
}

Result<Credentials> process_credentials(const Environment& environment, const std::string& command,
                                        const std::string& origin, const Stop& stop,
                                        double patience_seconds) {
  auto argv = split_command(command);
  if (!argv.ok()) return Status(Code::Auth, origin + ": " + argv.status().message());
  auto done = run_process(
      environment, {.argv = *argv,
                    .inherited = kUsersVariables,
                    .deadline = std::chrono::milliseconds(static_cast<long long>(patience_seconds * 1000)),
                    .stop = stop});
  if (!done.ok()) {
    // A program that waits for user input is not run again, because it would wait again.
    const Status asked = stop.check();
    const bool waited = done.status().code() == Code::Timeout;
    return Status(asked.ok() ? Code::Auth : asked.code(), origin + ": " + done.status().message())
        .with_hint(waited ? "Run it by hand to see what it waits for." : "Run it by hand to see why.");
  }
  // Its own words stay out of the message: a program that fails may print what it was given.
  if (done->exit_status != 0)
    return Status(Code::Auth, origin + ": " + argv->front() + " failed with exit status " +
                                  std::to_string(done->exit_status))
        .with_hint("Run it by hand to see why.");
  auto keys = credentials_of_json(done->out, origin);
  return keys;
}

}  // namespace radl::aws
