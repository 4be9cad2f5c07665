// Programs as graphs.
#include "tools/graph/graph.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

ir::Program program() {
  ir::Program made;
  made.name = "fa\"rm";
  ir::Network network;
  network.name = "pub";
  network.is_public = true;
  network.ports.push_back({"tcp", "0.0.0.0/0", 22, 22, 22, 22});
  made.networks.push_back(network);
  for (int i = 0; i < 3; ++i) {
    ir::Node node;
    node.system = "wn";
    node.address = "wn[" + std::to_string(i) + "]";
    node.interfaces.push_back({0, "pub", "wn-" + std::to_string(i), "localdomain", ""});
    node.requirements["cpu.count"].min = 2;
    made.nodes.push_back(node);
    for (const char* recipe : {"base", "run"}) {
      ir::Step step;
      step.id = node.address + "/" + recipe;
      step.recipe = recipe;
      step.nodes = {node.address};
      if (step.recipe == "run") step.after.push_back({node.address + "/base", "step 2 follows step 1"});
      made.steps.push_back(step);
    }
  }
  return made;
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Graph, SystemsAreOneBox) {
  std::string dot = program_dot(program());
  EXPECT_EQ(dot.rfind("digraph \"fa\\\"rm\" {", 0), 0u);
  EXPECT_EQ(count(dot, "shape=box3d"), 1u);
  EXPECT_NE(dot.find("wn \xC3\x97 3"), std::string::npos);
  EXPECT_NE(dot.find("cpu.count >= 2"), std::string::npos);
  EXPECT_NE(dot.find("22/tcp"), std::string::npos);
  EXPECT_NE(dot.find("\"step:wn/base\" -> \"step:wn/run\" [label=\"step 2 follows step 1\"]"),
            std::string::npos)
      << dot;
  EXPECT_EQ(count(dot, "step 2 follows"), 1u);
  EXPECT_EQ(program_dot(program()), dot);
}

TEST(Graph, EachNodeAndParts) {
  GraphOptions options;
  options.each_node = true;
  std::string dot = program_dot(program(), options);
  EXPECT_EQ(count(dot, "shape=box3d"), 3u);
  EXPECT_EQ(count(dot, "step 2 follows"), 3u);
  options.steps = false;
  EXPECT_EQ(program_dot(program(), options).find("step:"), std::string::npos);
  options = {};
  options.machines = false;
  EXPECT_EQ(program_dot(program(), options).find("network:"), std::string::npos);
}

}  // namespace
}  // namespace radl
