// Definitions and uses of names.
#include "tools/lsp/symbols.h"

#include <gtest/gtest.h>

#include "tools/lsp/analysis.h"

namespace radl::lsp {
namespace {

int count(const Analysis& analysis, Space space, std::string_view name) {
  Occurrence like;
  like.space = space;
  like.name = name;
  auto all = analysis.symbols.all(like);
  for (const Occurrence* each : all) EXPECT_EQ(analysis.source.text(each->span), name);
  return static_cast<int>(all.size());
}

TEST(Symbols, Radl1) {
  Analysis in("file:///a", "/a", 1, R"(
ansible ctrl (host = 'h' and credentials.username = 'u' and credentials.password = 'p')
network pub (outbound = 'yes' and router = '10.0.0.0/8,front')
network other
system front (net_interface.0.connection = 'pub' and net_interface.1.connection='pub' and ansible_host = 'ctrl')
configure front (
@begin
- tasks: "{{ groups['front'] }} {{ groups["front"][0] }} {{ groups.front }} {{ groups['all'] }}"
@end
)
deploy front 2
contextualize (system front configure front step 1)
)");
  EXPECT_EQ(in.syntax.errors(), 0u);
  EXPECT_EQ(count(in, Space::Network, "pub"), 3);
  EXPECT_EQ(count(in, Space::Ansible, "ctrl"), 2);
  EXPECT_EQ(count(in, Space::System, "front"),
            1 + 1 + 1 + 1 + 3);  // definition, router, deploy, item, recipe
  EXPECT_EQ(count(in, Space::Configure, "front"), 2);
  EXPECT_EQ(count(in, Space::System, "all"), 0);
  EXPECT_TRUE(in.symbols.find(Space::Network, "other")->reference);
  EXPECT_EQ(in.symbols.find(Space::System, "nobody"), nullptr);
}

TEST(Symbols, Radl2) {
  Analysis in("file:///a", "/a", 1, R"(radl 2
input workers (type = 'integer', default = 2)
system worker (cpu.count >= input.workers)
use 'std/x' as m (servers = system.worker, n = input.workers * 2)
deploy worker input.workers
output o (value = 'at ${worker[0].ip} ${m.path} ${input.workers}')
)");
  EXPECT_EQ(in.syntax.errors(), 0u);
  EXPECT_EQ(count(in, Space::Input, "workers"), 5);
  EXPECT_EQ(count(in, Space::System, "worker"), 4);
  EXPECT_EQ(count(in, Space::Module, "m"), 2);
  Occurrence like;
  like.space = Space::ModuleOutput;
  like.name = "path";
  like.container = "m";
  EXPECT_EQ(in.symbols.all(like).size(), 1u);
}

int count_variable(const Analysis& in, std::string_view name, uint32_t from) {
  const Occurrence* found = in.symbols.at(static_cast<uint32_t>(in.source.text().find(name, from)));
  EXPECT_NE(found, nullptr);
  if (!found) return 0;
  EXPECT_EQ(found->space, Space::Variable);
  return static_cast<int>(in.symbols.all(*found).size());
}

TEST(Symbols, NetworksFunctionsAndRepeatedFeatures) {
  Analysis in("file:///a", "/a", 1, R"(radl 2
network lan
let twice(x) = x + x
system base (count = twice(1), networks = [lan])
system s (with = base, each i, size in [1G] ('disk.${i + 1}.size' = size))
)");
  EXPECT_EQ(in.syntax.errors(), 0u);
  EXPECT_EQ(count(in, Space::Network, "lan"), 2);
  EXPECT_EQ(count(in, Space::Let, "twice"), 2);
  EXPECT_EQ(count(in, Space::System, "base"), 2);
  EXPECT_EQ(count_variable(in, "x", static_cast<uint32_t>(in.source.text().find("(x)"))), 3);
  EXPECT_EQ(count_variable(in, "size", static_cast<uint32_t>(in.source.text().find("each"))), 2);
}

TEST(Symbols, BlocksInsideEach) {
  Analysis in("file:///a", "/a", 1, R"(radl 2
input zones (type = list(text))
each zone in input.zones (
  system worker (cpu.count = 1, zone = zone)
  each n in [1, 2] (configure setup (package 'p-${n}-${zone}'))
  deploy worker 2 when = zone != ''
)
contextualize (each s in [1] (system worker configure setup when = s > 0))
)");
  EXPECT_EQ(in.syntax.errors(), 0u);
  EXPECT_EQ(count(in, Space::System, "worker"), 3);
  EXPECT_EQ(count(in, Space::Configure, "setup"), 2);
  EXPECT_EQ(count(in, Space::Input, "zones"), 2);
  std::string text(in.source.text());
  EXPECT_EQ(count_variable(in, "zone", static_cast<uint32_t>(text.find("each zone"))), 4);
  EXPECT_EQ(count_variable(in, "s", static_cast<uint32_t>(text.find("s in [1]"))), 2);
}

TEST(Symbols, LetAndLoopsOfTheSameName) {
  Analysis in("file:///a", "/a", 1, R"(radl 2
let base = 2
let twice = [x * base for x in [1, 2] if x > 1]
let map = { k = '${x} ${base}' for k, x in { a = 1 } }
)");
  EXPECT_EQ(in.syntax.errors(), 0u);
  EXPECT_EQ(count(in, Space::Let, "base"), 3);
  ASSERT_NE(in.symbols.find(Space::Let, "twice"), nullptr);
  std::string text(in.source.text());
  auto first = static_cast<uint32_t>(text.find("x * base"));
  EXPECT_EQ(count_variable(in, "x", first), 3) << "its loop's alone";
  EXPECT_EQ(count_variable(in, "x", static_cast<uint32_t>(text.find("x in { a"))), 2) << "its loop's alone";
}

TEST(Symbols, TheNameUnderTheCursor) {
  Analysis in("file:///a", "/a", 1, "network lan ()\nsystem a (net_interface.0.connection = 'lan')\n");
  std::string text(in.source.text());
  auto use = static_cast<uint32_t>(text.rfind("lan"));
  ASSERT_NE(in.symbols.at(use), nullptr);
  EXPECT_EQ(in.symbols.at(use)->name, "lan");
  EXPECT_NE(in.symbols.at(use + 3), nullptr) << "behind the last letter";
  EXPECT_EQ(in.symbols.at(use + 4), nullptr);
  EXPECT_EQ(in.symbols.at(0), nullptr);
}

}  // namespace
}  // namespace radl::lsp
