// What systems of `radl 2` take over from others, and what radlc adds to them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/check/features.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/source/source.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

class Systems : public testing::Test {
 protected:
  void SetUp() override {
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
  }
  void TearDown() override { std::filesystem::current_path(before_); }

  // Compiles the text after `radl 2`; nullopt, with the report in `said_`, if it has errors.
  std::optional<ir::Program> program(const std::string& text, const CompileOptions& options = {}) {
    std::ofstream("p.radl") << "radl 2\n" << text;
    SourceMap sources;
    diagnostics_ = {};
    auto compiled = compile({"p.radl"}, options, sources, diagnostics_);
    said_ = render_text(diagnostics_, sources);
    if (!compiled) return std::nullopt;
    return std::move(compiled->program);
  }
  // The first node's.
  std::vector<ir::Disk> disks(const std::string& text) {
    auto made = program(text);
    EXPECT_TRUE(made && made->nodes.size() == 1) << said_;
    std::vector<ir::Disk> all = made && !made->nodes.empty() ? made->nodes[0].disks : std::vector<ir::Disk>();
    std::erase_if(all, [](const ir::Disk& disk) { return disk.index == 0; });
    return all;
  }

  Diagnostics diagnostics_;
  std::string said_;

 private:
  test::TemporaryFolder folder_;
  std::filesystem::path before_;
};

TEST_F(Systems, ABaseWithACloudNeedsNoNetwork) {
  auto made = program(
      "network lan\nsystem base ( cloud = 'ec2', cpu.count >= 2 )\n"
      "system worker ( with = base, networks = [lan], count = 2 )\n");
  ASSERT_TRUE(made) << said_;
  ASSERT_EQ(made->networks.size(), 1u);
  EXPECT_EQ(made->networks[0].name, "lan");
  EXPECT_EQ(made->nodes.at(0).cloud, "ec2");
}

TEST_F(Systems, TheListOfALaterBaseReplacesThatOfAnEarlierOne) {
  const auto all = disks(
      "system a ( disks = [{ size = 100G, mount = '/data' }, { size = 200G }] )\n"
      "system b ( disks = [{ size = 10G }] )\nsystem w ( count = 1, with = [a, b] )\n");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].size_bytes, 1e10);
  EXPECT_EQ(all[0].mount_path, "") << "b's disk is not formatted";
}

TEST_F(Systems, AWrittenOperatingSystemIsKept) {
  for (const char* bases : {"[win, data]", "[data, win]"}) {
    auto made = program(std::string("system win ( disk.0.os.name = 'windows' )\n"
                                    "system data ( disks = [{ size = 10G }] )\n"
                                    "system w ( count = 1, with = ") +
                        bases + " )\n");
    ASSERT_TRUE(made) << said_;
    EXPECT_EQ(made->nodes.at(0).requirements.at("disk.0.os.name").equals, ir::Json("windows")) << bases;
  }
}

TEST_F(Systems, WhetherThereAreDisksIsNoSecret) {
  CompileOptions options;
  for (const char* token : {"x", "y"}) {
    options.inputs["token"] = token;
    EXPECT_FALSE(
        program("input token ( sensitive = yes )\nsystem w ( count = 1, "
                "disks = if input.token == 'x' then [{ size = 1G }] else none )\n",
                options));
    EXPECT_TRUE(diagnostics_.has(DiagCode::SecretShown)) << said_;
  }
}

TEST_F(Systems, WhenInsideOfAnEachOfABodyIsAnError) {
  const std::string rest = "system w ( count = 1 )\ncontextualize ( system w configure c )\n";
  EXPECT_FALSE(program("configure c ( file '/x' ( content = 'a'\neach c in [no] ( when = c ) ) )\n" + rest));
  EXPECT_TRUE(diagnostics_.has(DiagCode::PropertyValue)) << said_;
  EXPECT_FALSE(program(
      "configure c ( file '/x' ( content = 'a'\neach m in [{ mode = '0600' }] ( with = m ) ) )\n" + rest));
  EXPECT_TRUE(diagnostics_.has(DiagCode::PropertyValue)) << said_;
}

// A fix would write one name in place of all that the string makes.
TEST_F(Systems, AComputedNameHasNoFix) {
  EXPECT_FALSE(program("system w ( count = 1\neach i, s in [1G, 2G] ( 'disk.${i + 1}.sise' = s ) )\n"));
  EXPECT_TRUE(diagnostics_.has(DiagCode::NoSuchFeature)) << said_;
  for (const Diagnostic& found : diagnostics_.all()) EXPECT_TRUE(found.fixes.empty()) << said_;
  EXPECT_FALSE(
      program("system w ( count = 1 )\n"
              "configure c ( file '/x' ( content = 'a'\neach k in ['ownr'] ( '${k}' = 'root' ) ) )\n"
              "contextualize ( system w configure c )\n"));
  EXPECT_TRUE(diagnostics_.has(DiagCode::UnknownProperty)) << said_;
  for (const Diagnostic& found : diagnostics_.all()) EXPECT_TRUE(found.fixes.empty()) << said_;
}

// The output is known immediately: only its name makes the job wait for the module's job.
TEST_F(Systems, AJobWaitsForTheModuleThatAFunctionNames) {
  std::ofstream("m.radl") << "radl 2\nsystem w ( count = 1 )\n"
                             "configure a ( program 'a' ( systems = system.w, main = 'a' ) )\n"
                             "output name ( value = 'x' )\n";
  auto made = program(
      "use './m' as first\nsystem w ( count = 1 )\nlet start(x) = '${first.name}-${x}'\n"
      "configure second ( program 'second' ( systems = system.w, main = 'b', arguments = [start('y')] ) )\n");
  ASSERT_TRUE(made) << said_;
  auto second = std::find_if(made->steps.begin(), made->steps.end(),
                             [](const ir::Step& step) { return step.id == "program/second"; });
  ASSERT_NE(second, made->steps.end());
  EXPECT_TRUE(std::any_of(second->after.begin(), second->after.end(),
                          [](const ir::Edge& edge) { return edge.reason == "takes an output of first"; }));
}

// For every row of the feature table: choice words are case-insensitive, and an invalid word or number is an
// error, never treated as a missing feature.
TEST_F(Systems, ChoicesAndNumbersAreReadInEveryCaseOrRefused) {
  int choices = 0, numbers = 0;
  for (const sema::FeatureSpec& row : sema::all_features()) {
    const bool network = row.scope == sema::Scope::Network;
    if (!network && row.scope != sema::Scope::System) continue;
    std::string name(row.name);
    for (size_t at; (at = name.find(".N.")) != name.npos;) name.replace(at, 3, ".0.");
    const auto with = [&](const std::string& value) {
      const std::string feature = fmt::format("'{}' = {}", name, value);
      return program(fmt::format("network n ( {} )\nsystem w ( count = 1, networks = [n]{}{} )\n",
                                 network ? feature : "outbound = 'no'", network ? "" : ", ",
                                 network ? "" : feature));
    };
    if (row.type == sema::FeatureType::Choice) {
      ++choices;
      for (std::string_view word : row.values) {
        std::string upper(word);
        for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        const auto made = with("'" + upper + "'");
        ASSERT_TRUE(made) << name << ": " << said_;
        if (row.checked) continue;  // stays as written
        const ir::Json value = network ? made->networks.at(0).features->at(name)
                                       : *made->nodes.at(0).requirements.at(name).equals;
        EXPECT_EQ(value, std::string(word)) << name;
      }
      EXPECT_FALSE(with("'xyzzy'")) << name;
      EXPECT_NE(said_.find("E0307"), std::string::npos) << name << ": " << said_;
    } else if (row.type == sema::FeatureType::Number || row.type == sema::FeatureType::Integer) {
      ++numbers;
      EXPECT_FALSE(with("'xyzzy'")) << name;
    }
  }
  EXPECT_GT(choices, 10);
  EXPECT_GT(numbers, 5);
}

}  // namespace
}  // namespace radl
