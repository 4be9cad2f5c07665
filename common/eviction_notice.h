// How a machine asks its cloud's own service over HTTP whether it is taken back, and what an answer says: as
// the cloud declares it (`interruption` of docs/job.md).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/status.h"

namespace radl {

// 404 is no notice. Of any other answer, a text is one where it is `says`; without `says` the answer is a
// JSON object, or has a list of them at `list`, and one whose members are as `where` says is.
struct NoticeSpec {
  std::string url;  // "": nobody is asked
  std::map<std::string, std::string> headers;
  // A request (PUT) that comes first, and again when its answer is refused (401): what it says goes into the
  // header `session_header` of the question.
  std::string session_url, session_header;
  std::map<std::string, std::string> session_headers;
  double every_seconds = 5;
  std::string says, list;
  std::map<std::string, std::string>
      where;  // a list as a member has to hold the text; letters' case is the same
  std::string action = "action", time = "time";  // members of the object that the notice names
  bool given() const { return !url.empty(); }
};

// Of what a cloud declares: a member that is not there, or of another kind, keeps its default.
NoticeSpec notice_spec_in(const nlohmann::json& declared);

// A cloud says that it will take this machine away.
struct EvictionNotice {
  std::string action, time;  // as the cloud says them: "terminate", "2026-11-22T15:04:05Z"; "": it does not
};

// What an answer (status 200) says. Nothing: no notice. Corrupt: it is not of the form that is declared.
Result<std::optional<EvictionNotice>> notice_in(const NoticeSpec& spec, const std::string& answer);

}  // namespace radl
