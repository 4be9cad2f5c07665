// EC3's composition, rule by rule. tests/conformance/ec3 compares the same with EC3's own code.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "compiler/compat/ec3/templates.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/compat/yaml/yaml_value.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

using Json = nlohmann::json;

const std::string kBase = R"(
network public ( outbound = 'yes' and outports contains '22/tcp' )
network private ( )
system front ( net_interface.0.connection = 'private' and net_interface.1.connection = 'public' and cpu.count >= 1 and
  disk.0.image.url = 'one://h.example.org/1' and queue_system = 'slurm' and ec3_templates contains 'base' )
system wn ( net_interface.0.connection = 'private' and disk.0.image.url = 'one://h.example.org/2' and ec3_max_instances = 10 )
deploy front 1
)";

std::string recipe(const std::string& system, const std::string& plays) {
  return "configure " + system + " (\n@begin\n" + plays + "@end\n)\n";
}

// Templates in a folder of their own, which is the current one.
class Templates {
 public:
  Templates() {
    std::filesystem::current_path(folder_.path());
    add("base", kBase);
  }
  ~Templates() { std::filesystem::current_path(before_); }
  Templates(const Templates&) = delete;
  Templates& operator=(const Templates&) = delete;

  Templates& add(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomic(name + ".radl", text).ok());
    return *this;
  }

  // What they are together, as RADL-JSON by class and name; null when they are refused.
  Json compose(const std::vector<std::string>& names) {
    SourceMap sources;
    Diagnostics diagnostics;
    std::vector<const SourceFile*> given;
    for (const std::string& name : names) given.push_back(*sources.load(name + ".radl"));
    auto trees = parse_all(given, diagnostics);
    auto load = [&](const std::string& path) { return sources.load(path); };
    auto templates = ec3::compose_files(trees, {{}, load, load}, diagnostics);
    std::vector<const ast::Tree*> parts;
    for (const auto& tree : trees) parts.push_back(tree.get());
    sema::Document document = sema::build_document(parts, diagnostics);
    diagnostics.sort();
    said = render_text(diagnostics, sources);
    if (diagnostics.has_errors()) return nullptr;
    Json found;
    for (const Json& each : Json::parse(sema::to_radl_json(document))) {
      std::string cls = each["class"];
      if (cls == "deploy")
        found["deploys"].push_back(each["system"].get<std::string>() + " " + each["vm_number"].dump());
      else
        found[cls][each.value("id", "")] = each;
    }
    return found;
  }

  // The names of a recipe's plays, in order.
  std::string plays(const std::vector<std::string>& names, const std::string& system = "front") {
    Json found = compose(names);
    if (found.is_null()) return said;
    auto loaded = ec3::load_yaml(found["configure"][system]["recipes"].get<std::string>());
    std::string out;
    for (const auto& play : (*loaded)->items)
      out += (out.empty() ? "" : " ") + (play->find("name") ? play->find("name")->text : "?");
    return out;
  }

  // The text of the recipe of `front`.
  std::string text(const std::vector<std::string>& names) {
    Json found = compose(names);
    return found.is_null() ? said : found["configure"]["front"]["recipes"].get<std::string>();
  }

  std::string said;

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  test::TemporaryFolder folder_;
};

TEST(Ec3Recipes, OfOneNameAreJoinedInTheOrderOfTheTemplates) {
  Templates templates;
  templates.add("a", recipe("front", "- name: a1\n- name: a2\n")).add("b", recipe("front", "- name: b1\n"));
  EXPECT_EQ(templates.plays({"base", "a", "b"}), "a1 a2 b1");
  EXPECT_EQ(templates.plays({"base", "b", "a"}), "b1 a1 a2");
}

TEST(Ec3Recipes, ThatAreTheSameAreTakenOnce) {
  Templates templates;
  templates.add("a", recipe("front", "- name: a\n  n: 1\n"))
      .add("b", recipe("front", "- {n: 1.0, name: a}\n"));
  EXPECT_EQ(templates.plays({"base", "a", "b"}), "a");
}

TEST(Ec3Recipes, AreSortedByPriorityWhichIsThePlaceWhereNoneIsGiven) {
  Templates templates;
  templates.add("a", recipe("front", "- name: zero\n- name: one\n- name: two\n"))
      .add("b", recipe("front",
                       "- name: last\n  ec3_prio: 100\n- name: first\n  ec3_prio: -10\n"
                       "- name: middle\n  ec3_prio: 0.5\n- name: second\n  ec3_prio: 1\n"));
  EXPECT_EQ(templates.plays({"base", "a", "b"}), "first zero middle one second two last");
  EXPECT_EQ(templates.text({"base", "a", "b"}).find("ec3_prio"), std::string::npos);
}

TEST(Ec3Recipes, PrioritiesThatCannotBeComparedAreRefused) {
  Templates templates;
  templates.add("a", recipe("front", "- name: a\n"))
      .add("b", recipe("front", "- name: b\n  ec3_prio: high\n"));
  EXPECT_NE(templates.plays({"base", "a", "b"}).find("the priority high cannot be compared"),
            std::string::npos);
}

TEST(Ec3Recipes, OtherThanPlaysAreReplacedAndMapsUnited) {
  Templates templates;
  templates.add("list", recipe("front", "- name: list\n"))
      .add("words", recipe("front", "words\n"))
      .add("map", recipe("front", "vars: {x: 1}\ntasks: [a]\n"))
      .add("map2", recipe("front", "vars: {y: 2}\ntasks: [b]\n"));
  EXPECT_EQ(templates.plays({"base", "words", "list"}), "list");
  EXPECT_EQ(templates.text({"base", "map", "map2"}), "\ntasks:\n- a\n- b\nvars:\n  x: 1\n  y: 2\n");
}

TEST(Ec3Recipes, AppendThePlaysOfAnother) {
  Templates templates;
  templates.add(
      "a", recipe("front", "- ec3_append: wn\n- name: own\n") + recipe("wn", "- name: w1\n- name: w2\n"));
  EXPECT_EQ(templates.plays({"base", "a"}), "w1 w2 own");
  templates.add("circle", recipe("front", "- ec3_append: wn\n") + recipe("wn", "- ec3_append: front\n"));
  EXPECT_NE(templates.plays({"base", "circle"}).find("appends itself"), std::string::npos);
}

// Ansible would be given a word of EC3's that is not where EC3 looks for it; that is said at its place.
TEST(Ec3Recipes, WordsOfPlaysInTasksStayWithAWarning) {
  Templates templates;
  templates
      .add("a", recipe("front",
                       "- ec3_append: wn\n- name: own\n  ec3_prio: 5\n  tasks:\n"
                       "  - ec3_append: wn\n  - name: b\n    ec3_prio: 3\n"))
      .add("b", recipe("wn", "- name: w\n"));
  EXPECT_EQ(templates.plays({"base", "b", "a"}), "w own");
  EXPECT_NE(templates.said.find("`ec3_append` stays as it is"), std::string::npos) << templates.said;
  EXPECT_NE(templates.said.find("a.radl:7:5"), std::string::npos) << templates.said;
  EXPECT_NE(templates.said.find("`ec3_prio` stays as it is"), std::string::npos) << templates.said;
  EXPECT_NE(templates.said.find("a.radl:9:5"), std::string::npos) << templates.said;
}

TEST(Ec3Recipes, OfPlainRadlAreJoinedAsWell) {
  Templates templates;
  templates.add("one", "system front ( )\ndeploy front 1\n" + recipe("front", "- name: a\n"))
      .add("two", recipe("front", "- name: b\n"));
  EXPECT_EQ(templates.plays({"one", "two"}), "a b");
  EXPECT_FALSE(templates.compose({"one", "two"})["system"]["front"].contains("ec3_templates_cmd"));
}

std::string variable(const std::string& value) { return recipe("front", "- vars:\n    V: " + value + "\n"); }

TEST(Ec3Variables, GetWhatAPathNames) {
  Templates templates;
  templates.add("string", variable("{ec3_xpath: /system/front/queue_system}"))
      .add("set", variable("{ec3_xpath: /network/public/outports}"))
      .add("list", variable("{ec3_jpath: /system/front/ec3_templates}"))
      .add("number", variable("{ec3_jpath: /system/wn/ec3_max_instances}"))
      .add("inside", variable("{ec3_xpath: /network/public/*}"))
      .add("through", variable("{ec3_xpath: /system/front/net_interface.1.connection/outbound}"))
      .add("auth", variable("{ec3_xpath: /system/front/auth}"));
  EXPECT_EQ(templates.text({"base", "string"}), "\n- vars:\n    V: slurm\n");
  EXPECT_EQ(templates.text({"base", "set"}), "\n- vars:\n    V: 22/tcp\n");
  EXPECT_EQ(templates.text({"base", "list"}), "\n- vars:\n    V:\n    - base\n");
  EXPECT_EQ(templates.text({"base", "number"}), "\n- vars:\n    V: 10\n");
  EXPECT_EQ(templates.text({"base", "inside"}),
            "\n- vars:\n    V: \"  outbound = 'yes' and\\n  outports = '22/tcp'\"\n");
  EXPECT_EQ(templates.text({"base", "through"}), "\n- vars:\n    V: 'yes'\n");
  EXPECT_EQ(templates.text({"base", "auth"}), "\n- vars:\n    V: ''\n");
}

TEST(Ec3Variables, GetAllSystemsWithTheirNetworks) {
  Templates templates;
  templates.add("all", variable("{ec3_jpath: /system/*}"));
  auto loaded = ec3::load_yaml(templates.text({"base", "all"}));
  std::string names;
  for (const auto& each : (*loaded)->items[0]->find("vars")->find("V")->items)
    names += each->find("class")->text + " " + each->find("id")->text + ", ";
  EXPECT_EQ(names, "system front, network private, network public, system wn, ");
}

TEST(Ec3Variables, GetFilesWithoutTheBracesThatAnsibleWouldRead) {
  Templates templates;
  templates.add("script", "x {{ y }}\n").add("a", variable("{ec3_file: script.radl}"));
  EXPECT_EQ(templates.text({"base", "a"}), "\n- vars:\n    V: 'x \\x7b\\x7b y \\x7d\\x7d\n\n      '\n");
}

TEST(Ec3Variables, ThatNameNothingAreRefusedAtTheirPlace) {
  Templates templates;
  templates.add("near", variable("{ec3_xpath: /system/front/queue_sistem}"))
      .add("number", variable("{ec3_xpath: /system/wn/ec3_max_instances}"))
      .add("file", variable("{ec3_file: nowhere}"));
  EXPECT_EQ(templates.text({"base", "near"}),
            "error[E0320]: variable `V`: system `front` has no feature `queue_sistem`\n"
            " --> near.radl:4:20\n"
            "  |\n"
            "4 |     V: {ec3_xpath: /system/front/queue_sistem}\n"
            "  |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "  = help: did you mean `queue_system`?\n\n");
  EXPECT_NE(templates.text({"base", "number"}).find("ec3_jpath gives numbers"), std::string::npos);
  EXPECT_NE(templates.text({"base", "file"}).find("there is no file `nowhere`"), std::string::npos);
}

TEST(Ec3Features, AreNarrowedOrReplaced) {
  Templates templates;
  templates.add("more", "system front ( cpu.count <= 8 and cpu.count >= 2 and queue_system = 'torque' )\n")
      .add("away", "system front ( cpu.count = 16 )\n");
  Json front = templates.compose({"base", "more"})["system"]["front"];
  EXPECT_EQ(front["cpu.count_min"], 2);
  EXPECT_EQ(front["queue_system"], "torque");
  EXPECT_EQ(templates.compose({"base", "more", "away"})["system"]["front"]["cpu.count"], 16);
}

TEST(Ec3Features, OfSetsAndGroupsUnite) {
  Templates templates;
  templates
      .add("a",
           "network public ( outports contains '80/tcp' and outports contains '22/tcp' )\n"
           "system wn ( disk.0.applications contains (name = 'x' and version = '1') )\n")
      .add("b",
           "system wn ( disk.0.applications contains (name = 'x' and version = '2') and "
           "disk.0.applications contains (name = 'y') )\n");
  Json found = templates.compose({"base", "a", "b"});
  EXPECT_EQ(found["network"]["public"]["outports"], "22/tcp,80/tcp");
  EXPECT_EQ(found["system"]["wn"]["disk.0.applications"],
            Json::parse(R"([{"name": "x", "version": "2"}, {"name": "y"}])"));
}

TEST(Ec3Features, OfDifferentKindsAreRefused) {
  Templates templates;
  templates.add("a", "network public ( outports = '80/tcp' )\n");
  EXPECT_TRUE(templates.compose({"base", "a"}).is_null());
  EXPECT_NE(templates.said.find("is a string here, but a set of values before"), std::string::npos)
      << templates.said;
}

TEST(Ec3Features, NoteTheTemplatesOfTheCommandLine) {
  Templates templates;
  templates.add("a", "include x ( template = 'b' )\n").add("b", "network private ( )\n");
  EXPECT_EQ(templates.compose({"base", "a"})["system"]["front"]["ec3_templates_cmd"], "base a");
}

TEST(Ec3Inheritance, TakesFeaturesAndRecipe) {
  Templates templates;
  templates.add("a",
                "system gpu ( ec3_inherit_from = system wn and gpu.count >= 1 and ec3_max_instances = 2 )\n" +
                    recipe("wn", "- name: of wn\n") + recipe("gpu", "- name: of gpu\n"));
  Json gpu = templates.compose({"base", "a"})["system"]["gpu"];
  EXPECT_EQ(gpu["disk.0.image.url"], "one://h.example.org/2");
  EXPECT_EQ(gpu["ec3_max_instances"], 2);
  EXPECT_FALSE(gpu.contains("ec3_inherit_from"));
  EXPECT_EQ(templates.plays({"base", "a"}, "gpu"), "of wn of gpu");
}

TEST(Ec3Inheritance, GoesOneStepAndSaysSo) {
  Templates templates;
  templates.add("a", "system b ( ec3_inherit_from = system wn )\nsystem c ( ec3_inherit_from = system b )\n");
  Json found = templates.compose({"base", "a"});
  EXPECT_TRUE(found["system"]["b"].contains("disk.0.image.url"));
  EXPECT_FALSE(found["system"]["c"].contains("disk.0.image.url"));
  EXPECT_NE(templates.said.find("`c` gets nothing of what `b` inherits"), std::string::npos)
      << templates.said;
}

TEST(Ec3Includes, NameSeveralAndAreReadOnceLevelByLevel) {
  Templates templates;
  templates.add("a", "include one ( template = 'b  c' )\n" + recipe("front", "- name: a\n"))
      .add("b", "include two ( template = 'a d' )\n" + recipe("front", "- name: b\n"))
      .add("c", recipe("front", "- name: c\n"))
      .add("d", recipe("front", "- name: d\n"));
  EXPECT_EQ(templates.plays({"a", "base"}), "a b c d");
}

TEST(Ec3Includes, ThatAreNotThereAreRefused) {
  Templates templates;
  templates.add("a", "include one ( template = 'nowhere' )\n");
  EXPECT_TRUE(templates.compose({"base", "a"}).is_null());
  EXPECT_NE(templates.said.find("the template `nowhere` is not beside this file"), std::string::npos);
}

TEST(Ec3Clusters, AreRefusedWhenATemplateNamesWhatComesLater) {
  Templates templates;
  templates.add("a", "system front ( net_interface.2.connection = 'more' )\n").add("b", "network more ( )\n");
  EXPECT_FALSE(templates.compose({"base", "b", "a"}).is_null());
  EXPECT_TRUE(templates.compose({"base", "a", "b"}).is_null());
  EXPECT_NE(templates.said.find("network `more` does not exist yet"), std::string::npos) << templates.said;
}

TEST(Ec3Clusters, HaveAFrontAndNodesWithImages) {
  Templates templates;
  templates.add("main", "system front ( ec3_templates contains 'x' )\ndeploy front 1\n")
      .add("part", "system wn ( )\n");
  EXPECT_TRUE(templates.compose({"main", "part"}).is_null());
  EXPECT_NE(templates.said.find("system `front` has no `disk.0.image.url`"), std::string::npos)
      << templates.said;
  EXPECT_FALSE(templates.compose({"main"}).is_null()) << "one template alone may be a part";
}

TEST(Ec3Clusters, DeployOneFrontFirst) {
  Templates templates;
  templates.add("a", "deploy wn 2\ndeploy front 1\n");
  EXPECT_EQ(templates.compose({"base", "a"})["deploys"], Json::parse(R"(["front 1", "wn 2"])"));
}

TEST(Ec3Clusters, IgnoreAnEmptyContextualize) {
  Templates templates;
  templates.add("none", "contextualize 900 ()\n")
      .add("some", "contextualize 300 (\n  system front configure front step 1\n)\n" +
                       recipe("front", "- name: a\n"));
  EXPECT_FALSE(templates.compose({"base", "none"}).contains("contextualize")) << templates.said;
  const Json some = templates.compose({"base", "some", "none"})["contextualize"][""];
  EXPECT_EQ(some["max_time"], 300);
  EXPECT_EQ(some["items"].size(), 1u);
}

TEST(Ec3Yaml, IsReadAndWrittenAsPyYamlDoes) {
  auto round = [](const std::string& text) { return ec3::dump_yaml(**ec3::load_yaml(text)); };
  EXPECT_EQ(round("{b: 0x1F, a: 017, c: 1_000, d: 1:30, e: 2.50, f: 1e3, g: 1.0e+3, h: 08}"),
            "a: 15\nb: 31\nc: 1000\nd: 90\ne: 2.5\nf: 1e3\ng: 1000.0\nh: 08\n");
  EXPECT_EQ(round("[yes, 'yes', ~, '', 2001-12-14, '2001-12-14', a: b]"),
            "- true\n- 'yes'\n- null\n- ''\n- 2001-12-14\n- '2001-12-14'\n- a: b\n");
  EXPECT_EQ(round("a: &x {k: 1}\nb: *x\nc: {<<: *x, l: 2}\n"),
            "a: &id001\n  k: 1\nb: *id001\nc:\n  k: 1\n  l: 2\n");
  EXPECT_FALSE(ec3::load_yaml("a: [").has_value());
}

}  // namespace
}  // namespace radl
