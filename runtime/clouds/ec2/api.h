// EC2 calls for this cloud: lists over all pages, and the outcome of
// requests (runtime/clouds/cloud.h, Asked). Source: Amazon EC2 API
// Reference.
#pragma once

#include <functional>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "common/aws/query.h"
#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

using aws::Parameters;

// The outcome of a request that changes something.
struct Posted {
  Asked asked;  // Accepted without an ID
  std::optional<aws::Answer> answer;
  std::string code;  // AWS error code if not accepted
  bool accepted() const { return asked.answer == Asked::Answer::Accepted; }
  pugi::xml_node root() const { return answer->root(); }
};

class Api {
 public:
  explicit Api(aws::QueryClient& client) : client_(client) {}

  // Calls `take` for each <item> of `set`, on all pages. Read-only, so it is retried. `may_be_unknown`: the
  // server may lack the action; Unsupported if it says so unambiguously. Transient failures are ordinary
  // errors.
  Status each(const Context& context, const std::string& action, Parameters parameters, const char* set,
              const std::function<void(pugi::xml_node item)>& take, bool may_be_unknown = false) const;
  // A single response that is not a list.
  Result<aws::Answer> read(const Context& context, const std::string& action,
                           const Parameters& parameters) const;
  // `again_is_harmless`: repeating the request has no further effect.
  Posted post(const Context& context, const std::string& action, const Parameters& parameters,
              bool again_is_harmless) const;

 private:
  aws::QueryClient& client_;
};

// A failure as a code of this cloud: Quota if another offer may work, Retry if waiting may help.
Status status_of(const aws::Failure& failure);
// True if the server reports an unknown action. Amazon's error is "InvalidAction"; other servers respond
// 501.
bool lacks_action(const aws::Failure& failure);
// Error codes for a type that is currently unavailable in a zone.
bool is_capacity(const std::string& code);

// Appends "InstanceId.1", "InstanceId.2", ... after existing ones.
void add_list(Parameters& parameters, const std::string& name, const std::vector<std::string>& values);
// Appends a Filter.N of a Describe call.
void add_filter(Parameters& parameters, const std::string& name, const std::vector<std::string>& values);

// The selection of a Describe call.
struct Selection {
  enum class By { Tokens, Ids, Infrastructure };
  By by = By::Ids;
  std::vector<std::string> values;  // for Infrastructure: its ID
};
// Splits the values into selections within EC2's limit per filter.
std::vector<Selection> in_portions(Selection::By by, const std::vector<std::string>& values);
// Converts a selection to a filter: by radlc's tags or by `id_filter` ("instance-id"). Appends to `first`.
Parameters selected(const Selection& selection, const std::string& id_filter, Parameters first = {});

// ---- tags ----
inline constexpr const char* kInfrastructureTag = "radlc:infrastructure";
inline constexpr const char* kAddressTag = "radlc:address";
inline constexpr const char* kTokenTag = "radlc:token";
inline constexpr const char* kKeyTag = "radlc:key";        // SHA256 fingerprint of the login key
inline constexpr const char* kUserTag = "radlc:user";      // of the login
inline constexpr const char* kCallerTag = "radlc:caller";  // CIDR of the computer for which SSH is open

inline constexpr size_t kLongestTagValue = 256;
// TagSpecification.N for a resource of EC2's type name ("instance", "volume").
void add_tags(Parameters& parameters, const std::string& resource_type,
              const std::map<std::string, std::string>& tags);
// The three tags by which everything is found again, and the Name tag.
std::map<std::string, std::string> own_tags(const Context& context, const Order& order);
// Cloud::marks_of(): these without the Name tag, plus the login data, if recorded.
std::map<std::string, std::string> marks_of(const Context& context, const Order& order);
// The default name of a resource in consoles.
std::string name_in_console(const Context& context, const Order& order);
std::map<std::string, std::string> tags_of(pugi::xml_node item);
// Stores radlc's tags in `seen`, with address and token, unless they belong to another infrastructure.
void take_tags(const Context& context, const std::map<std::string, std::string>& tags, Seen& seen);
std::string tag_of(const std::map<std::string, std::string>& tags, const char* name);  // "" if missing

// Text of a direct child; "" if missing.
std::string text_of(pugi::xml_node node, const char* child);

}  // namespace radl::ec2
