#include "common/status.h"

namespace radl {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::Ok:
      return "ok";
    case Code::Invalid:
      return "invalid";
    case Code::NotFound:
      return "not_found";
    case Code::Exists:
      return "exists";
    case Code::Conflict:
      return "conflict";
    case Code::Auth:
      return "auth";
    case Code::Quota:
      return "quota";
    case Code::Retry:
      return "retry";
    case Code::Timeout:
      return "timeout";
    case Code::Cancelled:
      return "cancelled";
    case Code::Lost:
      return "lost";
    case Code::Corrupt:
      return "corrupt";
    case Code::Unsupported:
      return "unsupported";
    case Code::Internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace radl
