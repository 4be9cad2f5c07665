// Roles, assumed at STS.
#include <chrono>
#include <string>

#include "common/aws/providers.h"
#include "common/aws/services.h"
#include "common/files.h"
#include "common/text.h"

namespace radl::aws {
namespace {

Result<QueryService> sts_of(const Asking& asking) {
  auto region = asking.configuration.region();
  if (!region.ok()) return region.status();
  return query_service(asking.configuration, "sts", region->empty() ? "us-east-1" : *region);
}

// STS takes letters, digits and =,.@- up to 64.
std::string session_name(const RoleRequest& role) {
  if (!role.session_name.empty()) return role.session_name;
  return "radlc-" +
         std::to_string(std::chrono::system_clock::now().time_since_epoch() / std::chrono::seconds(1));
}

// Source: AWS STS API Reference, AssumeRole.
Status check_duration(const RoleRequest& role) {
  const std::string& text = role.duration_seconds;
  const bool digits = !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == text.npos;
  const int seconds = digits ? std::stoi(text) : 0;
  if (text.empty() || (seconds >= 900 && seconds <= 43200)) return {};
  return {Code::Auth, role.origin + ": duration_seconds must be from 900 to 43200"};
}

Parameters parameters_of(const RoleRequest& role) {
  Parameters all = {{"RoleArn", role.arn}, {"RoleSessionName", session_name(role)}};
  if (!role.external_id.empty()) all.emplace_back("ExternalId", role.external_id);
  if (!role.duration_seconds.empty()) all.emplace_back("DurationSeconds", role.duration_seconds);
  return all;
}

pugi::xml_node find_credentials(const pugi::xml_node& root) {
  return root.find_node([](const pugi::xml_node& node) {
    const std::string_view name = node.name();
    return name == "Credentials" || name.ends_with(":Credentials");
  });
}

Result<Credentials> credentials_in(const Answer& answer, const RoleRequest& role) {
  const std::string origin = role.origin + " (" + role.arn + ")";
  // What STS refuses is final; what does not get through may pass.
  if (!answer.ok()) return Status(answer.failure().status).at(origin);
  const pugi::xml_node node = find_credentials(answer.root());
  Credentials keys{node.child("AccessKeyId").text().get(), node.child("SecretAccessKey").text().get(),
                   node.child("SessionToken").text().get(), parse_time(node.child("Expiration").text().get()),
                   origin};
  if (keys.access_key.empty() || keys.secret_key.empty() || keys.session_token.empty())
    return Status(Code::Auth, origin + ": the response of STS contains no keys");
  return keys;
}

}  // namespace

Result<Credentials> assume_role(const Asking& asking, const RoleRequest& role, const Credentials& by) {
  if (Status fine = check_duration(role); !fine.ok()) return fine;
  auto service = sts_of(asking);
  if (!service.ok()) return service.status();
  QueryClient sts(asking.http, fixed_credentials(by), std::move(*service));
  return credentials_in(
      sts.call("AssumeRole", parameters_of(role), {.effect = Effect::Repeatable, .stop = asking.stop}), role);
}

Result<Credentials> assume_role_with_web_identity(const Asking& asking, const RoleRequest& role,
                                                  const std::string& token_file) {
  auto token = read_file(token_file, 1 << 20);
  if (!token.ok()) return Status(Code::Auth, role.origin + ": " + token.status().message());
  const std::string text(trim(*token));
  if (text.empty()) return Status(Code::Auth, role.origin + ": " + token_file + " contains no token");
  if (Status fine = check_duration(role); !fine.ok()) return fine;
  auto service = sts_of(asking);
  if (!service.ok()) return service.status();
  QueryClient sts(asking.http, nullptr, std::move(*service));
  Parameters parameters = parameters_of(role);
  parameters.emplace_back("WebIdentityToken", text);
  return credentials_in(
      sts.call("AssumeRoleWithWebIdentity", parameters, {.effect = Effect::Repeatable, .stop = asking.stop}),
      role);
}

}  // namespace radl::aws
