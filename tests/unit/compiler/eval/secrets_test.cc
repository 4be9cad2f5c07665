// No secret leaks: compiles, plans and documents programs with a sensitive input in every
// position of the language, and searches all output for its value. tests/fuzz/lang/secrets.cc
// runs longer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "common/files.h"
#include "compiler/resources/resource_schema.h"
#include "tests/support/paths.h"
#include "tests/support/secret_programs.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

namespace fs = std::filesystem;

class Secrets : public testing::Test {
 protected:
  void SetUp() override { write(true); }
  void write(bool sensitive) {
    for (const auto& [name, text] : secret_program_files(sensitive)) std::ofstream(folder.path(name)) << text;
  }

  // Compiles `count` programs that `make` gives; the numbers of those that went through and of references in
  // them.
  struct Outcome {
    size_t compiled = 0, secrets = 0, leaking = 0;
  };
  template <class Make>
  Outcome run(size_t count, bool wanted, Make&& make) {
    Outcome outcome;
    for (size_t i = 0; i < count; ++i) {
      SecretProgram program = make(i);
      if (program.text.empty()) continue;
      LeakSearch found = search_leaks(program, folder.path());
      outcome.compiled += found.compiled;
      outcome.secrets += found.secrets;
      outcome.leaking += !found.leaks.empty();
      if (wanted || found.leaks.empty()) continue;
      std::string where;
      for (const std::string& each : found.leaks) where += (where.empty() ? "" : ", ") + each;
      ADD_FAILURE() << "a secret stands in: " << where << "\n" << program.text;
      if (++failures_ == 5) break;
    }
    return outcome;
  }

  TemporaryFolder folder;
  int failures_ = 0;
};

TEST_F(Secrets, StayHiddenWhereverTheyStand) {
  std::mt19937 random(20260131);
  Choose choose = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Outcome outcome = run(1500, false, [&](size_t) { return make_secret_program(choose); });
  // It is no proof if nothing compiles.
  EXPECT_GT(outcome.compiled, 100u);
  EXPECT_GT(outcome.secrets, 200u);
}

TEST_F(Secrets, StayHiddenInProgramsThatPeopleWrote) {
  std::vector<std::string> seeds;
  for (const char* below : {"ext", "ir", "check", "mistakes"})
    for (const auto& entry : fs::directory_iterator(source_dir() + "/tests/lang/" + below))
      if (entry.path().extension() == ".radl") seeds.push_back(entry.path().string());
  std::sort(seeds.begin(), seeds.end());
  ASSERT_GT(seeds.size(), 20u);
  std::mt19937 random(7);
  Choose choose = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  run(400, false, [&](size_t i) {
    auto text = read_file(seeds[i % seeds.size()]);
    return put_secret_into(text.ok() ? *text : "", choose);
  });
}

// A secret of the property's own type.
std::string secret_of(const ir::Property& property) {
  switch (property.type) {
    case ir::PropertyType::Integer:
    case ir::PropertyType::Number:
      return "input.number";
    case ir::PropertyType::Size:
      return "input.size";
    case ir::PropertyType::Duration:
      return "input.wait";
    case ir::PropertyType::Boolean:
      return "input.flag";
    case ir::PropertyType::List:
      return "input.list";
    case ir::PropertyType::Map:
    case ir::PropertyType::LocalPaths:
      return "input.map";
    default:
      return "input.secret";
  }
}

TEST_F(Secrets, StayHiddenInEveryPropertyOfAJob) {
  for (const char* type : {"program", "training"}) {
    const ir::ResourceType* schema = ir::find_resource_type(type);
    ASSERT_NE(schema, nullptr);
    size_t compiled = 0, secrets = 0;
    for (const ir::Property& property : schema->properties) {
      const std::string name(property.name);
      std::string text = secret_inputs_text() + "system w (cpu.count >= 1)\ndeploy w 2\nconfigure c (\n  " +
                         type + " 'it' (";
      for (const ir::Property& other : schema->properties)
        if (other.required && other.name != property.name)
          text += std::string(other.name) +
                  (other.type == ir::PropertyType::Systems ? " = w, " : " = './solve', ");
      text += name + " = " + secret_of(property) + ")\n)\n";
      LeakSearch found = search_leaks({text, secret_input_values()}, folder.path());
      EXPECT_TRUE(found.leaks.empty()) << type << "." << name << ": " << found.leaks.front();
      compiled += found.compiled;
      secrets += found.secrets;
    }
    if (type == std::string("program")) {
      EXPECT_GE(compiled, 2u) << "its arguments and its environment may be secrets";
      EXPECT_GE(secrets, 4u);
    }
  }
}

// The same programs without the mark: what the search looks for does come out.
TEST_F(Secrets, AreFoundWhereNothingHidesThem) {
  write(false);
  std::mt19937 random(20260131);
  Choose choose = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Outcome outcome = run(200, true, [&](size_t) { return make_secret_program(choose, false); });
  EXPECT_GT(outcome.leaking, 100u);
}

}  // namespace
}  // namespace radl::test
