// EC2's calls as this cloud makes them: lists over all their pages, and requests by what came of them
// (runtime/clouds/cloud.h, Asked).
// Source: Amazon EC2 API Reference.
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

// What came of a request that changes something.
struct Posted {
  Asked asked;  // Accepted without an id
  std::optional<aws::Answer> answer;
  std::string code;  // AWS's, of what was not accepted
  bool accepted() const { return asked.answer == Asked::Answer::Accepted; }
  pugi::xml_node root() const { return answer->root(); }
};

class Api {
 public:
  explicit Api(aws::QueryClient& client) : client_(client) {}

  // Calls `take` for each <item> of `set`, page after page. What it asks changes nothing and is repeated.
  // `may_be_unknown`: the server may lack the action. Unsupported where it says so beyond doubt; whatever may
  // pass is an error like any other.
  Status each(const Context& context, const std::string& action, Parameters parameters, const char* set,
              const std::function<void(pugi::xml_node item)>& take, bool may_be_unknown = false) const;
  // One answer that is no list.
  Result<aws::Answer> read(const Context& context, const std::string& action,
                           const Parameters& parameters) const;
  // `again_is_harmless`: the same request a second time changes nothing more.
  Posted post(const Context& context, const std::string& action, const Parameters& parameters,
              bool again_is_harmless) const;

 private:
  aws::QueryClient& client_;
};

// A failure in this cloud's codes: Quota where another offer may do, Retry where waiting may help.
Status status_of(const aws::Failure& failure);
// Whether this says that the server knows no such action. Amazon's names that ("InvalidAction"), others say
// 501.
bool lacks_action(const aws::Failure& failure);
// Codes that say that a type cannot be had here and now.
bool is_capacity(const std::string& code);

// "InstanceId.1", "InstanceId.2", ... behind those that are there.
void add_list(Parameters& parameters, const std::string& name, const std::vector<std::string>& values);
// Filter.N of a Describe call, N the next that is free.
void add_filter(Parameters& parameters, const std::string& name, const std::vector<std::string>& values);

// What a Describe call is asked for.
struct Selection {
  enum class By { Tokens, Ids, Infrastructure };
  By by = By::Ids;
  std::vector<std::string> values;  // of Infrastructure: its id
};
// The selections of at most as many values as EC2 takes in a filter.
std::vector<Selection> in_portions(Selection::By by, const std::vector<std::string>& values);
// As a filter: by our tags, or by `id_filter` ("instance-id"); behind `first`.
Parameters selected(const Selection& selection, const std::string& id_filter, Parameters first = {});

// ---- tags ----
inline constexpr const char* kInfrastructureTag = "radlc:infrastructure";
inline constexpr const char* kAddressTag = "radlc:address";
inline constexpr const char* kTokenTag = "radlc:token";
inline constexpr const char* kKeyTag = "radlc:key";        // SHA256 fingerprint of the login's key
inline constexpr const char* kUserTag = "radlc:user";      // of the login
inline constexpr const char* kCallerTag = "radlc:caller";  // CIDR of the computer that SSH is open for

inline constexpr size_t kLongestTagValue = 256;
// TagSpecification.N for a resource of this type as EC2 calls it ("instance", "volume").
void add_tags(Parameters& parameters, const std::string& resource_type,
              const std::map<std::string, std::string>& tags);
// The three tags by which everything is found again, and its name in consoles.
std::map<std::string, std::string> own_tags(const Context& context, const Order& order);
// Cloud::marks_of(): those, but for its name, and what a login needs, as far as that is recorded.
std::map<std::string, std::string> marks_of(const Context& context, const Order& order);
// What a resource is called where the file does not say it.
std::string name_in_console(const Context& context, const Order& order);
std::map<std::string, std::string> tags_of(pugi::xml_node item);
// All tags of radlc's, and of them address and token, but nothing of another infrastructure's.
void take_tags(const Context& context, const std::map<std::string, std::string>& tags, Seen& seen);
std::string tag_of(const std::map<std::string, std::string>& tags, const char* name);  // "" when not there

// The text of a direct child, "" when there is none.
std::string text_of(pugi::xml_node node, const char* child);

}  // namespace radl::ec2
