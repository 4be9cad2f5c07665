// A cloud inside radlc: machines that are records, in the time of a given clock, with faults drawn from one
// seed. What `radlc test` runs a file against, and what the conformance suite of clouds is tried on.
//
// In: the requests of runtime/clouds/cloud.h. Out: answers as a real cloud gives them, late, lost or refused.
// With one thread, the same seed and the same requests give the same answers.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/world.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/simulated/account.h"
#include "runtime/clouds/simulated/faults.h"
#include "runtime/clouds/simulated/model_file.h"
#include "runtime/clouds/takes_over.h"

namespace radl::simulated {

// One request as it reaches the cloud, for whoever watches.
struct Call {
  enum class Moment {
    Sent,  // nothing has been done yet
    Done,  // the work is done and kept; the answer is on its way, if it is not lost
  };
  Moment moment = Moment::Sent;
  long long number = 0;  // of this process, from 1
  std::string kind;      // "create", "update", "destroy", "look" (each page), "survey"
  std::string address;   // of the resource, where there is one
  std::string outcome;   // of Done: "accepted i-1", "refused: ..."; lost answers say what was lost
};

struct Options {
  CloudId id{"simulated", "", "eu"};  // the region: "eu" or "us"
  uint64_t seed = 1;
  Faults faults;
  std::string file;                               // keeps the account; empty: it is gone with the object
  std::function<void(const Call&)> on_call = {};  // in the caller's thread, with nothing locked
};

// What an infrastructure has in the account; nothing late, nothing left out.
struct Standing {
  std::vector<std::string> left;     // "worker[0] (i-00000001)": there, and not being destroyed
  std::vector<std::string> doubled;  // addresses with more than one of `left`
  MoneySum billed;                   // for all that was there, until now
  MoneySum price_per_hour;           // of `left`
};

class SimulatedCloud : public Cloud, public TakesOver {
 public:
  // Invalid: no such region; otherwise as ModelFile::open(). `clock` outlives the cloud.
  static Result<std::unique_ptr<SimulatedCloud>> make(Options options, Clock& clock);

  const CloudId& id() const override { return options_.id; }
  Result<Survey> survey(const Context& context, const ir::Program& program) override;
  Status can_make(const ir::Node& node, const DesignInput& input) const override;
  Result<Design> design(const DesignInput& input) const override;
  Impact impact(const std::string& type, const Json& before, const Json& after) const override;
  Asked ask_create(const Context& context, const Order& order) override;
  Asked ask_update(const Context& context, const Order& order) override;
  Asked ask_power(const Context& context, const Order& order, Power power) override;
  Asked ask_destroy(const Context& context, const Order& order) override;
  Result<std::vector<Seen>> look(const Context& context, const Query& query) override;
  std::chrono::milliseconds settles_after() const override;
  Status take_over(const Context& context, const Order& order) override;
  Status release(const Context& context, const Order& order) override;
  Result<std::set<std::string>> infrastructures(const Context& context, const std::string& name) override;

  // --- for whoever watches ---
  Standing standing(const std::string& infrastructure);
  // As they are, also what is leaving; nothing of others.
  std::vector<Seen> all_of(const std::string& infrastructure);
  std::vector<std::string> infrastructures();  // that create() has made something for that is there
  bool exists(const std::string& id);
  bool runs(const std::string& id);           // a machine, and nothing stands against a login
  bool was_destroyed(const std::string& id);  // because somebody asked for it
  std::map<std::string, long long> calls();   // by kind
  size_t foreign_touched();
  size_t foreign_left();  // resources of others that are there
  double last_time();     // wall seconds of the last change: where a virtual clock goes on

  // --- what happens behind radlc's back ---
  void set_faults(const Faults& faults);
  Status tamper(const std::string& id, const Json& patch);  // a merge patch (RFC 7386) of its spec
  Status stop(const std::string& id);                       // of a machine
  Status remove(const std::string& id);                     // at once and for good
  // Somebody launches a machine of their own with a copy of these tags. Its id.
  Result<std::string> plant(const std::string& infrastructure, const std::string& address,
                            const std::string& token);

 private:
  struct Weather;
  SimulatedCloud(Options options, Clock& clock);
  Millis now() { return std::llround(clock_.wall_seconds() * 1000); }
  Weather draw_weather(const std::string& kind, const std::string& address);
  bool pause(const Context& context, std::chrono::milliseconds time);
  void report(const Weather& weather, Call::Moment moment, std::string outcome = {});
  Asked ask(const Context& context, const char* kind, const Order& order, const std::function<Asked()>& work);
  Status fetch_page(const Context& context, const std::function<std::string()>& work);
  Status keep();
  Status change(const std::string& id, const std::function<void(Resource&)>& edit);

  Options options_;
  Clock& clock_;
  std::mutex mutex_;  // of all below
  Account account_;
  std::unique_ptr<ModelFile> file_;
  long long calls_made_ = 0;
  std::map<std::string, long long> calls_;
};

}  // namespace radl::simulated
