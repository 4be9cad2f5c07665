#include "runtime/steps/program/failure.h"

#include <fmt/format.h>

#include "common/human.h"
#include "runtime/steps/program/verdict.h"

namespace radl::program {
namespace {

constexpr size_t kShownMembers = 4;
constexpr int kLinesOfTheFirst = 20, kLinesOfOthers = 10;

}  // namespace

Status failure_of(const Json& program, const std::vector<FailedMember>& failed,
                  const std::function<std::string(const std::string& log, int lines)>& shown) {
  std::string text, hint;
  for (size_t i = 0; i < failed.size() && i < kShownMembers; ++i) {
    const FailedMember& each = failed[i];
    text += fmt::format("{}{}: {}", i == 0 ? "" : "\n", each.member->address(), end_text(each.exit));
    const int lines = i == 0 ? kLinesOfTheFirst : kLinesOfOthers;
    auto tail = each.member->log_tail(each.process, lines);
    if (!tail || tail->empty()) continue;
    const std::string said = shown(*tail, lines);
    text += "\n" + said;
    if (i == 0) hint = start_hint(program, each.exit, said);
  }
  if (failed.size() > kShownMembers)
    text += fmt::format("\n{} more failed", counted(failed.size() - kShownMembers, "member"));
  return Status(Code::Invalid, text).with_hint(hint);
}

}  // namespace radl::program
