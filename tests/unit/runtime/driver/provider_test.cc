// A cloud that only this test registers is known wherever radlc names clouds.
#include "runtime/clouds/provider.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "common/files.h"
#include "common/http/http.h"
#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "runtime/clouds/provider_parts.h"
#include "runtime/driver/machinery.h"
#include "runtime/driver/project.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

using namespace driver;

const CloudProvider& fifth();

class FifthFamily : public CloudFamily {
 public:
  const std::string& type() const override { return fifth().type; }
  std::vector<std::string> image_schemes() const override { return fifth().image_schemes; }
  bool has_credentials(const std::string& account) const override { return account == "mine"; }
  std::string region_for(const ir::Node&) const override { return "north"; }
  Result<std::unique_ptr<Cloud>> make(const CloudId&) override { return Status(Code::Unsupported, "a test"); }
};

Result<std::vector<CredentialEntry>> credentials(const CredentialSearch& search) {
  std::vector<CredentialEntry> entries;
  for (const AuthLine* line : lines_of(search.auth, fifth()))
    entries.push_back({line->id, [](http::Client&, const Stop&) {
                         return CloudAccount{.cloud = fifth().type, .origin = "a test"};
                       }});
  return entries;
}

const CloudProvider& fifth() {
  static const CloudProvider self = {
      .type = "fifth",
      .other_names = {"five"},
      .image_schemes = {"fth"},
      .auth_types = {"Fifth"},
      .default_region = "north",
      .add_clouds =
          [](const CloudSetup& setup, CloudSet& clouds) {
            add_with_accounts(setup, fifth(), std::make_unique<FifthFamily>(), clouds);
          },
      .credentials = credentials,
      .check_untrusted = [](const AuthFile&, const AuthLine&) { return Status(Code::Auth, "not here"); }};
  return self;
}

class ProviderTest : public testing::Test {
 protected:
  ProviderTest() {
    providers_.push_back(&fifth());
    host_.providers = &providers_;
    std::ofstream(folder_.path("auth.dat")) << "id = mine; type = Fifth; host = 127.0.0.1\n";
  }
  AuthFile accounts() {
    auto file = parse_auth("id = mine; type = Fifth; host = 127.0.0.1\n", {});
    EXPECT_TRUE(file.ok()) << file.status().text();
    return std::move(*file);
  }

  TemporaryFolder folder_;
  World world_{real_world().clock, real_world().files, real_world().random,
               Environment(Environment::Variables{{"HOME", folder_.path("home")}})};
  CloudProviders providers_ = built_in_providers();
  Host host_{.folder = folder_.path(), .principal = "", .world = &world_};
};

TEST_F(ProviderTest, ItsTypeItsAccountsAndItsImagesChooseItsClouds) {
  auto machinery = make_machinery(host_, {.cloud = "fifth", .auth = folder_.path("auth.dat")});
  ASSERT_TRUE(machinery.ok()) << machinery.status().text();
  const CloudSet& clouds = (*machinery)->clouds();
  EXPECT_TRUE(clouds.knows("mine"));
  EXPECT_EQ(clouds.meant_by("Five"), "fifth");
  EXPECT_NE(CloudSet(clouds).why_not("nowhere-at-all").hint().find("fifth"), std::string::npos);
  ir::Node node;
  node.cloud = "mine";
  EXPECT_EQ(clouds.id_for(node), "fifth:mine/north");
  auto without = make_machinery(host_, {});
  ASSERT_TRUE(without.ok());
  node.cloud = "";
  node.disks.emplace_back().image_urls = {"fth://image"};
  EXPECT_EQ((*without)->clouds().id_for(node), "fifth:/north");
}

TEST_F(ProviderTest, ItsCatalogueIsRead) {
  const std::string file = host_.catalog_file("fifth");
  ASSERT_TRUE(make_directories(file.substr(0, file.rfind('/'))).ok());
  ASSERT_TRUE(
      write_file_atomic(file,
                        "radl-catalog 2\ncloud fifth\ncurrency EUR\nsource a test\n\n[types]\n"
                        "small 1 1024 0 - 0 0/0 - x86_64 0\n\n[on-demand north 2026-01-01]\n- small 0.5\n")
          .ok());
  auto type = current_catalog(host_).find("fifth", "north", "small");
  ASSERT_TRUE(type.ok()) << type.status().text();
  ASSERT_NE(*type, nullptr);
  EXPECT_EQ((*type)->on_demand->per_hour.text(), "0.50 EUR");
}

TEST_F(ProviderTest, TheCompilerIsToldItsImages) {
  const std::string file = folder_.path("a.radl");
  std::ofstream(file) << "system a (disk.0.image.url = 'fth://image')\ndeploy a 1\n";
  auto warned = [&](const Host& host) {
    auto options = compile_options(host, {}, {});
    EXPECT_TRUE(options.ok());
    SourceMap sources;
    Diagnostics diagnostics;
    compile({file}, *options, sources, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors());
    return diagnostics.has(DiagCode::UnknownImageScheme);
  };
  EXPECT_FALSE(warned(host_));
  host_.providers = &built_in_providers();
  EXPECT_TRUE(warned(host_));
}

TEST_F(ProviderTest, CheckAuthFindsItsCredentials) {
  const AuthFile file = accounts();
  auto entries = find_credentials(providers_, {world_.environment, &file, ""});
  ASSERT_TRUE(entries.ok()) << entries.status().text();
  ASSERT_EQ(entries->size(), 1u);
  http::Client http(world_.environment);
  EXPECT_EQ(entries->front().name, "mine");
  EXPECT_EQ(entries->front().check(http, {}).cloud, "fifth");
  EXPECT_EQ(find_credentials(built_in_providers(), {world_.environment, &file, ""}).status().code(),
            Code::NotFound);
}

TEST_F(ProviderTest, ItJudgesTheLinesOfUntrustedUsers) {
  const AuthFile file = accounts();
  EXPECT_EQ(check_untrusted_line(providers_, file, file.lines.front()).message(), "not here");
  EXPECT_NE(check_untrusted_line(built_in_providers(), file, file.lines.front()).message(), "not here");
}

// Nothing reads a provider by its place in the list, and names are unambiguous.
TEST(Providers, NamesAreOfOneProviderAlone) {
  std::vector<std::string> names, schemes, types;
  for (const CloudProvider* provider : built_in_providers()) {
    EXPECT_NE(provider->add_clouds, nullptr) << provider->type;
    EXPECT_EQ(find_provider(built_in_providers(), provider->type), provider);
    names.push_back(provider->type);
    names.insert(names.end(), provider->other_names.begin(), provider->other_names.end());
    schemes.insert(schemes.end(), provider->image_schemes.begin(), provider->image_schemes.end());
    types.insert(types.end(), provider->auth_types.begin(), provider->auth_types.end());
  }
  for (auto* list : {&names, &schemes, &types}) {
    std::ranges::sort(*list);
    EXPECT_EQ(std::ranges::adjacent_find(*list), list->end());
  }
  EXPECT_EQ(find_provider(built_in_providers(), "aws"), nullptr);
}

}  // namespace
}  // namespace radl::test
