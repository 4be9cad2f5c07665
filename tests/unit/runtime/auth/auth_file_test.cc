// Auth files as the Infrastructure Manager's clients read them, and what is said of what they ignore.
#include "runtime/auth/auth_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/clouds/ec2/auth_lines.h"

namespace radl {
namespace {

AuthFile parsed(const std::string& text) {
  auto file = parse_auth(text, {.name = "auth.dat"});
  EXPECT_TRUE(file.ok()) << file.status().text();
  return file.ok() ? *file : AuthFile{};
}
std::string refused(const std::string& text) {
  return parse_auth(text, {.name = "auth.dat"}).status().message();
}
std::string value(const AuthFile& file, size_t i, const std::string& key) {
  if (i >= file.lines.size()) return "(no such line)";
  const auto at = file.lines[i].values.find(key);
  return at == file.lines[i].values.end() ? "(none)" : at->second;
}

TEST(AuthFile, OneCredentialALineWithCommentsAndBlankLines) {
  const AuthFile f = parsed(
      "# a comment\n\n  # another\ntype = InfrastructureManager; username = u; password = p\n"
      "id = aws; type = EC2; username=KEY ;password =  s p a c e  \r\n");
  ASSERT_EQ(f.lines.size(), 2u);
  EXPECT_EQ(f.lines[0].type, "InfrastructureManager");
  EXPECT_EQ(f.lines[0].id, "InfrastructureManager0");
  EXPECT_EQ(f.lines[1].id, "aws");
  EXPECT_EQ(f.lines[1].line, 5);
  EXPECT_EQ(value(f, 1, "username"), "KEY");
  EXPECT_EQ(value(f, 1, "password"), "s p a c e");
  EXPECT_EQ(f.of_type("EC2").size(), 1u);
  EXPECT_TRUE(f.of_type("ec2").empty());
  EXPECT_TRUE(f.notes.empty());
}

TEST(AuthFile, QuotesProtectAndOneKindIsLiteralInsideTheOther) {
  const AuthFile f = parsed("type = X; a = 'x;y=z'; b = \"it's\"; c = 'say \"a=b\"'; d = a'b'c\n");
  EXPECT_EQ(value(f, 0, "a"), "x;y=z");
  EXPECT_EQ(value(f, 0, "b"), "it's");
  EXPECT_EQ(value(f, 0, "c"), "say \"a=b\"");
  EXPECT_EQ(value(f, 0, "d"), "abc");
}

TEST(AuthFile, AValueWithAnEqualsSignEndsTheLineAndThatIsSaid) {
  const AuthFile f = parsed("type = EC2; username = u; password = SECRET=x; token = t\n");
  EXPECT_EQ(value(f, 0, "username"), "u");
  EXPECT_EQ(value(f, 0, "password"), "(none)");
  EXPECT_EQ(value(f, 0, "token"), "(none)");
  ASSERT_EQ(f.notes.size(), 1u);
  EXPECT_EQ(
      f.notes[0],
      "auth.dat:1: piece 3 is not KEY = VALUE (a value with \"=\" must be quoted): it and the rest of the "
      "line are ignored");
}

TEST(AuthFile, OneEqualsSignAtTheEndIsLostUnlessItIsQuoted) {
  EXPECT_EQ(value(parsed("type = X; password = YWJjZGU="), 0, "password"), "YWJjZGU");
  EXPECT_EQ(value(parsed("type = X; password = 'YWJjZGU='"), 0, "password"), "YWJjZGU=");
  EXPECT_EQ(value(parsed("type = X; password = YWJjZA=="), 0, "password"), "(none)");
  EXPECT_EQ(parsed("type = X; password = ; user = u").lines[0].values.size(),
            0u);  // an empty one ends it too
  EXPECT_EQ(value(parsed("type = X; user = u;"), 0, "user"), "u");
}

TEST(AuthFile, BackslashNIsALineBreak) {
  EXPECT_EQ(value(parsed("type = X; key = -----BEGIN\\nabc\\n-----END"), 0, "key"),
            "-----BEGIN\nabc\n-----END");
}

TEST(AuthFile, FilesAndCommandsStandForTheirContent) {
  AuthReading reading{.name = "a"};
  reading.read = [](const std::string& path) {
    return path == "/key" ? Result<std::string>("SECRET\n")
                          : Result<std::string>(not_found(path + ": not there"));
  };
  std::vector<std::string> ran;
  reading.run = [&](const std::vector<std::string>& argv) {
    ran = argv;
    return Result<std::string>("out\nput\n");
  };
  auto f = parse_auth(
      "type = EC2; username = command(pass show 'a;b'); password = file(/key); token = file(/none)", reading);
  ASSERT_TRUE(f.ok());
  EXPECT_EQ(value(*f, 0, "username"), "output");
  EXPECT_EQ(ran, (std::vector<std::string>{"pass", "show", "a;b"}));
  EXPECT_EQ(value(*f, 0, "password"), "SECRET\n");
  EXPECT_EQ(f->lines[0].missing.at("token"), "/none: not there");
  EXPECT_EQ(ec2::credentials_of(*f, f->lines[0]).status().message(), "a:1: EC20: token: /none: not there");
}

TEST(AuthFile, ACommandRunsWithoutAShell) {
  const AuthFile f = parsed("type = EC2; username = command(echo $HOME && x); password = command(false)");
  EXPECT_EQ(value(f, 0, "username"), "$HOME && x");
  EXPECT_EQ(f.lines[0].missing.at("password"), "false failed with exit status 1");
}

TEST(AuthFile, IdsAreNamesAndEachIsOnlyOnce) {
  EXPECT_EQ(parsed("id = a.b-c_1; type = X").lines[0].id, "a.b-c_1");
  EXPECT_NE(refused("id = 1a; type = X\n").find("auth.dat:1: the id is not a letter"), std::string::npos);
  EXPECT_NE(refused("id = 'a b'; type = X\n").find("auth.dat:1: the id"), std::string::npos);
  EXPECT_EQ(refused("id = a; type = X\nid = a; type = Y\n"),
            "auth.dat:2: the id \"a\" is that of line 1 as well");
  EXPECT_EQ(refused("id = EC21; type = X\ntype = EC2\n"),
            "auth.dat:2: the id \"EC21\" is that of line 1 as well");
  EXPECT_EQ(refused("username = u\n"), "auth.dat:1: the credential has no type");
}

TEST(AuthFile, TheJsonFormHasTheSameKeys) {
  const AuthFile f = parsed(
      R"json( [{"type": "EC2", "id": "one", "username": "u=;'", "password": "file(x)", "token": null},
           {"type": "EC2", "port": 22}])json");
  ASSERT_EQ(f.lines.size(), 2u);
  EXPECT_EQ(value(f, 0, "username"), "u=;'");
  EXPECT_EQ(value(f, 0, "password"), "file(x)");
  EXPECT_EQ(value(f, 1, "port"), "22");
  EXPECT_EQ(f.lines[1].id, "EC21");
  for (const char* text :
       {"[", "[1]", R"([{"type": "EC2", "password": ["SECRET"]}])", R"([{"a": "SECRET"}])"}) {
    EXPECT_NE(refused(text), "") << text;
    EXPECT_EQ(refused(text).find("SECRET"), std::string::npos) << refused(text);
  }
}

TEST(AuthFile, SeveralAccountsStandSideBySide) {
  const AuthFile f = parsed(
      "id = work; type = EC2; username = W; password = ws\nid = home; type = EC2; username = H; password = "
      "hs; "
      "token = ht\n");
  auto work = ec2::credentials_of(f, *f.find("work")), home = ec2::credentials_of(f, *f.find("home"));
  ASSERT_TRUE(work.ok() && home.ok());
  EXPECT_EQ((*work)->get({})->access_key, "W");
  EXPECT_EQ((*home)->get({})->session_token, "ht");
  EXPECT_EQ((*home)->get({})->origin, "\"home\" of auth.dat");
  EXPECT_EQ(f.find("other"), nullptr);
}

TEST(AuthFile, MissingKeysAreNamedAndValuesNever) {
  const AuthFile f = parsed("type = EC2; password = SECRET\n");
  const Status s = ec2::credentials_of(f, f.lines[0]).status();
  EXPECT_EQ(s.code(), Code::Auth);
  EXPECT_NE(s.message().find("auth.dat:1: EC20: has no username"), std::string::npos);
  EXPECT_EQ(s.message().find("SECRET"), std::string::npos);
}

TEST(AuthFile, IsTheOneThatOptionOrEnvironmentNames) {
  const std::string path = testing::TempDir() + "auth-" + to_hex(random_bytes(6));
  ASSERT_TRUE(write_file_atomic(path, "type = EC2; username = u; password = p\n", 0644).ok());
  ::unsetenv("RADL_AUTH");
  ::unsetenv("IM_AUTH");
  EXPECT_FALSE(load_auth(environment_of_process(), "")->has_value());
  ::setenv("IM_AUTH", path.c_str(), 1);
  auto by_environment = load_auth(environment_of_process(), "");
  ASSERT_TRUE(by_environment.ok() && by_environment->has_value());
  EXPECT_EQ((*by_environment)->notes.size(), 1u);  // others can read it
  ::setenv("RADL_AUTH", "/nowhere", 1);
  EXPECT_EQ(load_auth(environment_of_process(), "").status().code(), Code::NotFound);
  EXPECT_TRUE(load_auth(environment_of_process(), path)->has_value());
  ::chmod(path.c_str(), 0600);
  EXPECT_TRUE(load_auth(environment_of_process(), path)->value().notes.empty());
  ::unsetenv("RADL_AUTH");
  ::unsetenv("IM_AUTH");
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace radl
