// A cloud inside radlc: machines are records, time comes from a given clock, and faults are drawn from one
// seed. Used by `radlc test` and by the conformance suite of clouds.
//
// In: the requests of runtime/clouds/cloud.h. Out: responses like those of a real cloud: late, lost or
// rejected. With one thread, the same seed and requests give the same responses.
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

// A request arriving at the cloud, for observers.
struct Call {
  enum class Moment {
    Sent,  // nothing has been executed yet
    Done,  // executed and stored; the response is on its way, or lost
  };
  Moment moment = Moment::Sent;
  long long number = 0;  // in this process, from 1
  std::string kind;      // "create", "update", "destroy", "look" (each page), "survey"
  std::string address;   // of the resource, if any
  std::string outcome;   // for Done: "accepted i-1", "refused: ..."; for a lost response, the lost result
};

struct Options {
  CloudId id{"simulated", "", "eu"};  // the region: "eu" or "us"
  uint64_t seed = 1;
  Faults faults;
  std::string file;                               // stores the account; empty: in memory only
  std::function<void(const Call&)> on_call = {};  // called on the caller's thread without locks
};

// The actual resources of an infrastructure, without delays.
struct Standing {
  std::vector<std::string> left;     // "worker[0] (i-00000001)": exists and is not being deleted
  std::vector<std::string> doubled;  // addresses with more than one of `left`
  MoneySum billed;                   // for all past usage
  MoneySum price_per_hour;           // of `left`
};

class SimulatedCloud : public Cloud, public TakesOver {
 public:
  // Invalid: unknown region. Otherwise as ModelFile::open(). `clock` must outlive the cloud.
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

  // --- for observers ---
  Standing standing(const std::string& infrastructure);
  // Actual state, including resources being deleted, without those of others.
  std::vector<Seen> all_of(const std::string& infrastructure);
  std::vector<std::string> infrastructures();  // with existing resources made by create()
  bool exists(const std::string& id);
  bool runs(const std::string& id);           // a machine to which nothing prevents a login
  bool was_destroyed(const std::string& id);  // by request
  std::map<std::string, long long> calls();   // by kind
  size_t foreign_touched();
  size_t foreign_left();  // existing resources of others
  double last_time();     // wall-clock seconds of the last change, where a virtual clock resumes

  // --- events outside radlc ---
  void set_faults(const Faults& faults);
  Status tamper(const std::string& id, const Json& patch);  // a merge patch (RFC 7386) of its spec
  Status stop(const std::string& id);                       // for a machine
  Status remove(const std::string& id);                     // immediately and permanently
  // Simulates someone launching their own machine with a copy of these tags. Returns its ID.
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
  std::mutex mutex_;  // guards all members below
  Account account_;
  std::unique_ptr<ModelFile> file_;
  long long calls_made_ = 0;
  std::map<std::string, long long> calls_;
};

}  // namespace radl::simulated
