// Any bytes as what Google Compute Engine, Azure's Resource Manager, OpenStack's services and EC2 answer, in
// a row, beginning with the login. The first byte chooses the cloud, the second what is asked, the third of
// which resource.
#include <cstdlib>
#include <memory>

#include "common/aws/credentials.h"
#include "common/aws/settings.h"
#include "common/http/http.h"
#include "runtime/clouds/azure/azure_cloud.h"
#include "runtime/clouds/ec2/ec2_cloud.h"
#include "runtime/clouds/gce/gce_cloud.h"
#include "runtime/clouds/openstack/openstack_cloud.h"
#include "tests/fuzz/scripted_http.h"
#include "tests/support/runtime_programs.h"

using namespace radl;

namespace {

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

std::unique_ptr<Cloud> gce_cloud(http::Client& http) {
  gce::Options options;
  options.caller = "192.0.2.1/32";
  google::Settings settings;
  settings.credential.kind = google::Credential::Kind::AuthorizedUser;
  settings.credential.token_url = "https://oauth2.example/token";
  settings.credential.client_secret = settings.credential.refresh_token = fuzz::kSecret;
  settings.project = "p";
  settings.region = "europe-west1";
  settings.compute_url = "https://compute.example/compute/v1/";
  options.places = settings;
  return gce::make_cloud({"gce", "", "europe-west1"}, http, options, settings);
}

std::unique_ptr<Cloud> azure_cloud(http::Client& http) {
  azure::Options options;
  options.caller = "192.0.2.1/32";
  azure::Settings settings;
  settings.credential.kind = azure::Credential::Kind::Secret;
  settings.credential.tenant = settings.credential.client_id = "t";
  settings.credential.secret = fuzz::kSecret;
  settings.site = {"AzureCloud", "https://login.example", "https://management.example"};
  settings.subscription = "s";
  settings.location = "westeurope";
  options.places = settings;
  return azure::make_cloud({"azure", "", "westeurope"}, http, options, settings);
}

std::unique_ptr<Cloud> openstack_cloud(http::Client& http) {
  openstack::Options options;
  options.caller = "192.0.2.1/32";
  openstack::Settings settings;
  settings.method = "password";
  settings.auth = {{"auth_url", "https://keystone.example/v3"},
                   {"username", "u"},
                   {"password", std::string(fuzz::kSecret)},
                   {"user_domain_name", "d"},
                   {"project_name", "p"},
                   {"project_domain_name", "d"}};
  return openstack::make_cloud({"openstack", "", ""}, http, options, settings);
}

std::unique_ptr<Cloud> ec2_cloud() {
  // Its family has a connection of its own; scripted_http.cc answers that one as well.
  static const auto family =
      ec2::make_family(environment_of_process(), [](http::Client&) -> Result<ec2::Options> {
        auto configuration = aws::Configuration::load([](const std::string&) { return std::string(); });
        if (!configuration.ok()) return configuration.status();
        ec2::Options options;
        options.configuration = *configuration;
        options.credentials = [](const std::string&) -> Result<std::shared_ptr<aws::CredentialSource>> {
          aws::Credentials keys;
          keys.access_key = "AKIDEXAMPLE";
          keys.secret_key = fuzz::kSecret;
          return aws::fixed_credentials(keys);
        };
        options.has_credentials = [](const std::string&) { return true; };
        options.default_region = "us-east-1";
        options.caller = "192.0.2.1/32";
        return options;
      });
  auto cloud = family->make({"ec2", "", "us-east-1"});
  if (!cloud.ok()) std::abort();
  return std::move(*cloud);
}

const ir::Program& program() {
  static const ir::Program made = test::ProgramBuilder().deploy({"worker", 2}).build();
  return made;
}

// What the cloud is asked to make: of the machines above, and of what they stand on.
Order order(const Cloud& cloud, uint8_t which) {
  static const Catalog catalog = built_in_catalog();
  const Survey survey;
  DesignInput input{program(), {}, survey, catalog};
  for (const ir::Node& node : program().nodes) input.nodes.push_back(&node);
  Order order;
  order.token = kToken;
  order.id = "zones/europe-west1-b/instances/n";
  const Result<Design> design = cloud.design(input);
  if (!design.ok() || design->resources.empty()) return order;
  const Wanted& wanted = design->resources[which % design->resources.size()];
  order.address = wanted.address;
  order.type = wanted.type;
  order.spec = wanted.offers.empty() ? wanted.spec : offered_spec(wanted.spec, wanted.offers[wanted.chosen]);
  for (const Wanted& other : design->resources)
    if (other.address != wanted.address)
      order.references[other.address] = {other.type, "id-" + other.address, {}};
  return order;
}

void look_at(const Asked& asked) { fuzz::look_at(asked.status); }

void ask(Cloud& cloud, uint8_t what, uint8_t which) {
  Context context{.environment = environment_of_process()};
  context.infrastructure = "demo-0123";
  context.run = "run-1";
  context.stop = fuzz::no_waiting();
  switch (what % 7) {
    case 0: {
      auto survey = cloud.survey(context, program());
      return fuzz::look_at(survey.status());
    }
    case 1:
      return look_at(cloud.ask_create(context, order(cloud, which)));
    case 2:
      return look_at(cloud.ask_update(context, order(cloud, which)));
    case 3:
      return look_at(cloud.ask_destroy(context, order(cloud, which)));
    case 4:
      return fuzz::look_at(cloud.owner(context).status());
    case 5:
      return fuzz::look_at(cloud.host_keys(context, order(cloud, which).id).status());
    default: {
      look_at(cloud.ask_create(context, order(cloud, which)));
      auto seen = cloud.look(context, {{kToken}, {}, which % 2 == 0});
      return fuzz::look_at(seen.status());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  http::Client http{environment_of_process()};
  fuzz::script(data + 3, size - 3);
  const std::unique_ptr<Cloud> cloud = data[0] % 4 == 0   ? gce_cloud(http)
                                       : data[0] % 4 == 1 ? azure_cloud(http)
                                       : data[0] % 4 == 2 ? openstack_cloud(http)
                                                          : ec2_cloud();
  ask(*cloud, data[1], data[2]);
  return 0;
}
