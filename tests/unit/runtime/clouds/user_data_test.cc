// What cloud-init is given: the host name, the script that ends a machine, and recipes of every kind.
#include "runtime/clouds/user_data.h"

#include <gtest/gtest.h>

#include "common/digest.h"

namespace radl {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(UserData, WithoutRecipesIsTheHostName) {
  const std::string text = user_data("node-0.example.org", std::nullopt);
  EXPECT_TRUE(text.starts_with("Content-Type: multipart/mixed; boundary=\"==radlc==\"\n")) << text;
  EXPECT_NE(text.find("hostname: node-0\nfqdn: node-0.example.org\n"), text.npos) << text;
  EXPECT_EQ(count(text, "\n--==radlc==\n"), 1u);
  EXPECT_TRUE(text.ends_with("\n--==radlc==--\n"));
}

TEST(UserData, RecipesAreOfTheKindThatTheirFirstLineSays) {
  const std::string text =
      user_data("n", std::nullopt,
                {"\n  # of ours\n  packages: [vim]\n", "\n#cloud-config\npackages: [git]\n",
                 " \n#!/bin/sh\ntrue\n", "#include\nhttps://example.org/x\n"});
  // YAML keeps its spaces, and lists of several recipes are put together.
  EXPECT_NE(
      text.find("Content-Type: text/cloud-config; charset=\"utf-8\"\nMerge-Type: list(append)+"
                "dict(no_replace,recurse_list)+str()\n\n#cloud-config\n  # of ours\n  packages: [vim]\n"),
      text.npos)
      << text;
  EXPECT_NE(text.find("str()\n\n#cloud-config\npackages: [git]\n"), text.npos) << text;
  // What cloud-init makes of a template is merged as well.
  EXPECT_NE(text.find("Content-Type: text/plain; charset=\"utf-8\"\nMerge-Type: list(append)+"
                      "dict(no_replace,recurse_list)+str()\n\n#!/bin/sh\ntrue\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find("\n\n#include\nhttps://example.org/x\n"), text.npos) << text;
  EXPECT_EQ(count(text, "\n--==radlc==\n"), 5u);
}

TEST(UserData, TextBeyondAsciiAndOurOwnBoundaryArriveAsTheyAre) {
  const std::string script = "#!/bin/sh\necho 'Grüße'\n", nested = "#!/bin/sh\ncat <<X\n--==radlc==\nX\n";
  const std::string text = user_data("n", std::nullopt, {script, nested});
  EXPECT_NE(text.find("Content-Transfer-Encoding: base64\n\n" + base64_encode(script) + "\n"), text.npos)
      << text;
  EXPECT_NE(text.find("boundary=\"==radlc===\""), text.npos) << text;
  EXPECT_EQ(count(text, "\n--==radlc===\n"), 3u);
  EXPECT_NE(text.find(nested), text.npos);
}

TEST(UserData, WhatCloudInitWouldPassOverIsRefused) {
  ir::Node node;
  node.address = "node[0]";
  const auto check = [&](const std::string& recipe) {
    return check_user_data(node, {{"hostname", "n"}, {"cloud_init", {"packages: [vim]\n", recipe}}}, 16384,
                           "EC2");
  };
  for (const char* fine : {"packages: [vim]\n", "\n# of ours\n---\nruncmd:\n  - true\n",
                           "#cloud-config\n{runcmd: [true]}\n", "#!/bin/sh\necho\n", "  #!/bin/sh\necho\n",
                           "#cloud-config\n", "\"runcmd\" : [x]\n", "#include\nhttps://example.org/x\n",
                           "## template: jinja\n#cloud-config\n{% if true %}\nruncmd: []\n{% endif %}\n",
                           "#cloud-config-archive\n- x\n"})
    EXPECT_TRUE(check(fine).ok()) << fine << check(fine).text();
  for (const char* wrong : {"- name: of Ansible\n  ping:\n", "echo hello\n", "#cloud-config\n- runcmd: x\n",
                            "[a, b]\n", "\n# a comment\napt-get install vim\n"})
    EXPECT_EQ(check(wrong).code(), Code::Invalid) << wrong;
  // A quoted line is never cut inside a character.
  std::string accents = "x";
  while (accents.size() < 100) accents += "é";
  const std::string quoted = check(accents + "\n").message();
  EXPECT_NE(quoted.find("é..."), std::string::npos) << quoted;
  EXPECT_NE(check("echo hello\n").message().find("node[0]: a recipe for cloud_init begins with 'echo hello'"),
            std::string::npos);
}

TEST(UserData, RecipesOfANodeComeInTheirOrder) {
  ir::Program program;
  auto add = [&](const char* node, ir::StepKind kind, const char* body) {
    ir::Step step;
    step.nodes = {node};
    step.kind = kind;
    step.body = body;
    program.steps.push_back(step);
  };
  add("a[0]", ir::StepKind::CloudInit, "one");
  add("a[1]", ir::StepKind::CloudInit, "other");
  add("a[0]", ir::StepKind::Ansible, "no");
  add("a[0]", ir::StepKind::CloudInit, "two");
  EXPECT_EQ(cloud_init_recipes(program),
            (std::map<std::string, std::vector<std::string>>{{"a[0]", {"one", "two"}}, {"a[1]", {"other"}}}));
}

}  // namespace
}  // namespace radl
