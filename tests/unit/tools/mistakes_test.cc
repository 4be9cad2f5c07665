// As many messages as mistakes: independent mistakes in a valid document, each with its own message, in
// random numbers and order, give one error each, and none that follows from another.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/source/source.h"

namespace radl {
namespace {

// The text of one system, with something in it replaced.
std::string system(const std::string& name, std::string_view good = "", std::string_view bad = "") {
  std::string text = "system " + name +
                     " (\n  cpu.count >= 2 and\n  memory.size >= 1G and\n  disk.0.os.name = 'linux' and\n"
                     "  net_interface.0.connection = 'lan'\n)\ndeploy " +
                     name + " 1\n";
  size_t at = text.find(good);
  EXPECT_NE(at, std::string::npos) << good;
  return text.replace(at, good.size(), bad);
}

struct Mistake {
  const char* what;
  const char* good;
  const char* bad;
};

constexpr Mistake kMistakes[] = {
    {"and left out", ">= 2 and", ">= 2"},
    {"value left out", ">= 2 and", ">= and"},
    {"operator left out", "cpu.count >=", "cpu.count"},
    {"operator turned round", "cpu.count >=", "cpu.count =>"},
    {"another operator", "cpu.count >=", "cpu.count :"},
    {"and twice", ">= 2 and", ">= 2 and and"},
    {"a comma for and", ">= 2 and", ">= 2,"},
    {"a semicolon for and", ">= 2 and", ">= 2;"},
    {"group not closed", "'lan'\n)", "'lan'\n"},
    {"group closed twice", "'lan'\n)", "'lan'\n))"},
    {"text without quotes", "'linux'", "linux"},
    {"text in other quotes", "'linux'", "\"linux\""},
    {"text not closed", "'linux' and", "'linux and"},
    {"keyword misspelt", "system ", "sistem "},
    {"unit where none is", ">= 2 and", ">= 2G and"},
    {"unknown network", "'lan'", "'wan'"},
    {"text for a size", ">= 1G", ">= 'much'"},
    {"bounds that exclude each other", ">= 1G", ">= 4G and memory.size <= 1G"},
};

size_t errors_in(const std::string& text, std::string& shown) {
  SourceMap sources;
  sources.overlay("mistakes.radl", text);
  Diagnostics diagnostics;
  compile({"mistakes.radl"}, {}, sources, diagnostics);
  shown = render_text(diagnostics, sources, {});
  return diagnostics.errors();
}

TEST(Mistakes, EachAloneIsOneError) {
  std::string shown;
  EXPECT_EQ(errors_in("network lan ()\n" + system("a") + system("b"), shown), 0u) << shown;
  for (const Mistake& mistake : kMistakes) {
    std::string text =
        "network lan ()\n" + system("a") + system("b", mistake.good, mistake.bad) + system("c");
    EXPECT_EQ(errors_in(text, shown), 1u) << mistake.what << "\n" << shown;
  }
  // Blocks of their own.
  for (const char* sentence :
       {"deploy other 1\n", "system a (cpu.count >= 1)\n", "network n (outports = 'x/tcp')\n"})
    EXPECT_EQ(errors_in("network lan ()\n" + system("a") + sentence + system("b"), shown), 1u) << shown;
}

TEST(Mistakes, SeveralAreAsManyErrors) {
  std::mt19937 random(20260101);
  for (int round = 0; round < 300; ++round) {
    size_t wanted = 0;
    std::string text = "network lan (outbound = 'yes')\n", told, shown;
    for (int i = 0; i < 8; ++i) {
      std::string name = "node" + std::to_string(i);
      if (random() % 2 == 0) {
        text += system(name);
        continue;
      }
      const Mistake& mistake = kMistakes[random() % std::size(kMistakes)];
      text += system(name, mistake.good, mistake.bad);
      told += std::string(mistake.what) + ", ";
      ++wanted;
    }
    ASSERT_EQ(errors_in(text, shown), wanted) << told << "\n" << text << "\n" << shown;
  }
}

}  // namespace
}  // namespace radl
