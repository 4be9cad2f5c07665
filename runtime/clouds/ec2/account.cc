#include "runtime/clouds/ec2/account.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/aws/service_quotas.h"
#include "common/digest.h"

namespace radl::ec2 {
namespace {

using aws::Parameters;
using Permission = CloudPermission;

struct Probe {
  const char* action;
  Parameters parameters;
};

// With names and ids of nothing: most requests have no effect even if a server ignores DryRun.
const std::vector<Probe>& reading_probes() {
  static const std::vector<Probe> all = {
      {"DescribeAccountAttributes", {}},
      {"DescribeAddresses", {}},
      {"DescribeAvailabilityZones", {}},
      {"DescribeImages", {{"Owner.1", "self"}}},
      {"DescribeInstances", {}},
      {"DescribeKeyPairs", {}},
      {"DescribeNetworkAcls", {}},
      {"DescribeNetworkInterfaces", {}},
      {"DescribePlacementGroups", {}},
      {"DescribeSecurityGroups", {}},
      {"DescribeSpotPriceHistory", {{"MaxResults", "1"}}},
      {"DescribeSubnets", {}},
      {"DescribeVolumes", {}},
      {"DescribeVpcs", {}},
      {"GetConsoleOutput", {{"InstanceId", "i-00000000000000000"}}},
  };
  return all;
}

const std::vector<Probe>& changing_probes() {
  static const std::string instance = "i-00000000000000000", group = "sg-00000000000000000",
                           address = "eipalloc-00000000000000000", name = "radlc-check-auth";
  static const Parameters rule = {{"GroupId", group},
                                  {"IpPermissions.1.IpProtocol", "tcp"},
                                  {"IpPermissions.1.FromPort", "22"},
                                  {"IpPermissions.1.ToPort", "22"},
                                  {"IpPermissions.1.IpRanges.1.CidrIp", "192.0.2.1/32"}};
  static const Parameters tag = {{"ResourceId.1", instance}, {"Tag.1.Key", name}, {"Tag.1.Value", "x"}};
  static const std::vector<Probe> all = {
      {"AllocateAddress", {{"Domain", "vpc"}}},
      {"AssociateAddress", {{"InstanceId", instance}, {"AllocationId", address}}},
      {"AuthorizeSecurityGroupEgress", rule},
      {"AuthorizeSecurityGroupIngress", rule},
      {"CreatePlacementGroup", {{"GroupName", name}, {"Strategy", "cluster"}}},
      {"CreateSecurityGroup", {{"GroupName", name}, {"GroupDescription", name}}},
      {"CreateTags", tag},
      {"DeleteKeyPair", {{"KeyName", name}}},
      {"DeletePlacementGroup", {{"GroupName", name}}},
      {"DeleteSecurityGroup", {{"GroupId", group}}},
      {"DeleteTags", tag},
      {"DisassociateAddress", {{"AssociationId", "eipassoc-00000000000000000"}}},
      {"ImportKeyPair",
       {{"KeyName", name},
        {"PublicKeyMaterial",
         base64_encode("ssh-ed25519 "
                       "AAAAC3NzaC1lZDI1NTE5AAAAIPmJqXl4h0XWYdpYF0bOEsGXYRhzvFTDNQUoiUlmVGqF")}}},
      {"ModifyInstanceAttribute", {{"InstanceId", instance}, {"InstanceType.Value", "t3.micro"}}},
      {"ReleaseAddress", {{"AllocationId", address}}},
      {"RevokeSecurityGroupEgress", rule},
      {"RevokeSecurityGroupIngress", rule},
      {"RunInstances",
       {{"ImageId", "ami-00000000000000000"},
        {"InstanceType", "t3.micro"},
        {"MinCount", "1"},
        {"MaxCount", "1"}}},
      {"StartInstances", {{"InstanceId.1", instance}}},
      {"StopInstances", {{"InstanceId.1", instance}}},
      {"TerminateInstances", {{"InstanceId.1", instance}}},
  };
  return all;
}

bool is_refusal(const std::string& code) {
  return code == "UnauthorizedOperation" || code == "AccessDenied" || code == "AccessDeniedException";
}

// AWS checks the permission first, so errors such as "there is no such instance" prove that it is granted.
bool is_past_permission(const std::string& code) {
  return code == "DryRunOperation" || code.find("NotFound") != std::string::npos ||
         code.starts_with("InvalidInstanceID") || code.starts_with("InvalidAMIID") ||
         code.starts_with("InvalidParameter") || code == "MissingParameter" || code == "VPCIdNotSpecified" ||
         code.ends_with(".Duplicate") || code == "InvalidKey.Format";
}

Permission probe(aws::QueryClient& ec2, const Probe& what, const Stop& stop, bool* obeyed = nullptr) {
  Permission permission{std::string("ec2:") + what.action, Permission::Answer::Unknown, ""};
  Parameters parameters = what.parameters;
  parameters.emplace_back("DryRun", "true");
  aws::Answer answer = ec2.call(what.action, parameters, {.effect = aws::Effect::Once, .stop = stop});
  if (answer.ok()) {
    permission.answer = Permission::Answer::Allowed;
    return permission;
  }
  const aws::Failure& failure = answer.failure();
  if (obeyed) *obeyed = failure.reason == "DryRunOperation" || is_refusal(failure.reason);
  if (is_refusal(failure.reason)) {
    permission.answer = Permission::Answer::Missing;
  } else if (is_past_permission(failure.reason)) {
    permission.answer = Permission::Answer::Allowed;
  } else {
    permission.why = failure.reason.empty() ? failure.status.message() : failure.reason;
  }
  return permission;
}

std::vector<Permission> probe_all(aws::QueryClient& ec2, const Stop& stop) {
  std::vector<Permission> all;
  bool obeyed = false;
  for (const Probe& what : reading_probes()) {
    bool this_one = false;
    all.push_back(probe(ec2, what, stop, &this_one));
    obeyed |= this_one;
  }
  for (const Probe& what : changing_probes()) {
    // A server that ignores DryRun for read calls would really execute the others.
    all.push_back(obeyed ? probe(ec2, what, stop)
                         : Permission{std::string("ec2:") + what.action, Permission::Answer::Unknown,
                                      "this endpoint does not know DryRun"});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

// ---- quotas ----

struct KnownQuota {
  const char *code, *name;
};
// Service Quotas console, "Amazon Elastic Compute Cloud"; of instances in vCPUs.
constexpr KnownQuota kQuotas[] = {
    {"L-1216C47A", "on-demand standard instances (A, C, D, H, I, M, R, T, Z), vCPUs"},
    {"L-34B43A08", "spot standard instances (A, C, D, H, I, M, R, T, Z), vCPUs"},
    {"L-DB2E81BA", "on-demand G and VT instances, vCPUs"},
    {"L-3819A6DF", "spot G and VT instances, vCPUs"},
    {"L-417A185B", "on-demand P instances, vCPUs"},
    {"L-7212CCBC", "spot P2, P3 and P4 instances, vCPUs"},
    {"L-0263D0A3", "elastic addresses"},
};

Result<std::vector<CloudQuota>> service_quotas(const AccountQuestion& question) {
  auto quotas = aws::ec2_quotas(
      {question.http, question.configuration, question.credentials, question.region, question.stop});
  if (!quotas.ok()) return quotas.status();
  std::vector<CloudQuota> found;
  for (const KnownQuota& known : kQuotas) {
    auto quota = quotas->find(known.code);
    if (quota != quotas->end()) found.push_back({known.name, quota->second});
  }
  if (found.empty()) return Status(Code::NotFound, "Service Quotas names none of EC2's");
  return found;
}

// <accountAttributeSet><item><attributeName/><attributeValueSet><item><attributeValue/>
Result<std::vector<CloudQuota>> attribute_quotas(aws::QueryClient& ec2, const Stop& stop) {
  aws::Answer answer =
      ec2.call("DescribeAccountAttributes", {}, {.effect = aws::Effect::Reads, .stop = stop});
  if (!answer.ok()) return answer.failure().status;
  std::vector<CloudQuota> found;
  for (const auto& item : answer.root().child("accountAttributeSet").children("item")) {
    const std::string name = item.child("attributeName").text().get();
    const auto value = item.child("attributeValueSet").child("item").child("attributeValue").text();
    if (name == "max-instances") found.push_back({"on-demand instances", value.as_double()});
    if (name == "vpc-max-elastic-ips") found.push_back({"elastic addresses", value.as_double()});
    if (name == "vpc-max-security-groups-per-interface")
      found.push_back({"security groups of a network interface", value.as_double()});
  }
  if (found.empty()) return Status(Code::NotFound, "the account's attributes name no quota");
  return found;
}

void take_quotas(const AccountQuestion& question, aws::QueryClient& ec2, CloudAccount& account) {
  auto quotas = service_quotas(question);
  std::string from = "Service Quotas";
  if (!quotas.ok()) {
    const Status why = quotas.status();
    quotas = attribute_quotas(ec2, question.stop);
    from = "account attributes";
    if (!quotas.ok()) account.quotas_status = why;
  }
  if (!quotas.ok()) return;
  account.quotas = std::move(*quotas);
  account.facts.emplace_back("quotas_from", std::move(from));
}

}  // namespace

std::vector<std::string> account_actions() {
  std::vector<std::string> all;
  for (const auto* probes : {&reading_probes(), &changing_probes()}) {
    for (const Probe& what : *probes) all.push_back(std::string("ec2:") + what.action);
  }
  std::sort(all.begin(), all.end());
  return all;
}

CloudAccount look_at_account(const AccountQuestion& question) {
  CloudAccount account{.cloud = "ec2", .region = question.region};
  auto failed = [&](const Status& why) {
    account.status = why;
    return account;
  };
  auto keys = question.credentials->get(question.stop);
  if (!keys.ok()) return failed(keys.status());
  account.origin = keys->origin;
  if (keys->expires) account.expires = *keys->expires;
  auto sts_service = aws::query_service(question.configuration, "sts", question.region);
  if (!sts_service.ok()) return failed(sts_service.status());
  auto ec2_service = aws::query_service(question.configuration, "ec2", question.region);
  if (!ec2_service.ok()) return failed(ec2_service.status());
  aws::QueryClient sts(question.http, question.credentials, *sts_service);
  auto identity = aws::caller_identity(sts, question.stop);
  if (!identity.ok()) return failed(identity.status());
  account.facts = {{"account", identity->account}, {"arn", identity->arn}};
  aws::QueryClient ec2(question.http, question.credentials, *ec2_service);
  take_quotas(question, ec2, account);
  account.permissions = probe_all(ec2, question.stop);
  return account;
}

}  // namespace radl::ec2
