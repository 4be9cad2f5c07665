// Programs in which a sensitive input stands in every place of the language, and what they must never show.
//
// In: choices (of a random generator, or of a fuzzer's bytes). Out: source text. RADL 1 programs get the
// secret by
// @input.NAME@ in the features that hold passwords and keys; `radl 2` programs by sensitive inputs of every
// type.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace radl::test {

// A number below `n`, n > 0.
using Choose = std::function<uint32_t(uint32_t n)>;

// One of them in a text, a whole or a part of it: what no output may hold.
inline constexpr std::string_view kSecretText = "zq7xsentinelx7qz";
inline constexpr std::string_view kSecretNumber = "7391846255";

struct SecretProgram {
  std::string text;
  std::map<std::string, std::string> inputs;  // as --input gives them
  bool radl2 = true;
};
// `sensitive`: false leaves the mark out, so that the same programs show that the search finds what is there.
SecretProgram make_secret_program(const Choose& choose, bool sensitive = true);

// The first lines of such a program, `radl 2` and its sensitive inputs, and their values: input.secret,
// .number, .flag, .list, .map, .size, .wait.
std::string secret_inputs_text();
std::map<std::string, std::string> secret_input_values();

// A program that somebody wrote, with a secret in place of some of its values. Empty when it has no place for
// one.
SecretProgram put_secret_into(std::string_view seed, const Choose& choose, bool sensitive = true);

// Files that the programs use: "module.radl", "inner.radl", "page.txt".
std::map<std::string, std::string> secret_program_files(bool sensitive = true);

// Compiles the file in its folder, and returns each output in which the secret, or what was computed from it,
// stands: "IR", "findings", "dump lower", "plan", "page". Empty: nothing leaked.
struct LeakSearch {
  std::vector<std::string> leaks;
  bool compiled = false;
  size_t secrets = 0;  // that the program refers to
};
LeakSearch search_leaks(const SecretProgram& program, const std::string& folder);

}  // namespace radl::test
