// Texts in C++ sources, for tests that ask whether each text of the compiler has a case.
#pragma once

#include <algorithm>
#include <cctype>
#include <regex>
#include <string>
#include <vector>

namespace radl::test {

// The longest piece of a text between `{}` and quotes: what a case's help must hold.
inline std::string longest_piece(std::string literal) {
  literal = std::regex_replace(literal, std::regex(R"(\{\{)"), "\x01");
  literal = std::regex_replace(literal, std::regex(R"(\}\})"), "\x02");
  std::string longest;
  static const std::regex holes(R"(\{[^{}]*\})");
  for (std::sregex_token_iterator piece(literal.begin(), literal.end(), holes, -1), end; piece != end;
       ++piece)
    if (piece->length() > static_cast<long>(longest.size())) longest = *piece;
  std::replace(longest.begin(), longest.end(), '\x01', '{');
  std::replace(longest.begin(), longest.end(), '\x02', '}');
  return longest;
}

// A C++ literal's text; adjacent ones are joined before.
inline std::string unescaped(const std::string& literal) {
  std::string text;
  for (size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\' || i + 1 == literal.size()) {
      text += literal[i];
      continue;
    }
    text += literal[++i];
  }
  return text;
}

// The literals from `at` to the end of the statement, or of the call whose parenthesis opens at `at`.
inline std::vector<std::string> literals_in(const std::string& code, size_t at) {
  const bool call = code[at] == '(';
  std::vector<std::string> found;
  int open = 0;
  bool adjacent = false;
  for (size_t i = at; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"') {
      std::string text;
      for (++i; i < code.size() && code[i] != '"'; ++i) {
        text += code[i];
        if (code[i] == '\\') text += code[++i];
      }
      if (adjacent)
        found.back() += text;
      else
        found.push_back(text);
      adjacent = true;
      continue;
    }
    if (c == '\'' && (code[i + 2] == c || code[i + 1] == '\\')) i += code[i + 1] == '\\' ? 3 : 2;
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    adjacent = false;
    open += c == '(';
    open -= c == ')';
    if (c == ';' || (call && open == 0)) break;
  }
  for (std::string& each : found) each = unescaped(each);
  return found;
}

// The arguments of the call whose parenthesis opens at `at`.
inline std::vector<std::string> arguments_at(const std::string& code, size_t at) {
  std::vector<std::string> found;
  int open = 0;
  for (size_t i = at, begin = at + 1; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"' || (c == '\'' && (code[i + 2] == c || code[i + 1] == '\\'))) {
      for (++i; i < code.size() && code[i] != c; ++i) i += code[i] == '\\';
      continue;
    }
    open += c == '(' || c == '[' || c == '{';
    open -= c == ')' || c == ']' || c == '}';
    if ((c == ',' && open == 1) || open == 0) {
      found.push_back(code.substr(begin, i - begin));
      begin = i + 1;
    }
    if (open == 0) break;
  }
  return found;
}

}  // namespace radl::test
