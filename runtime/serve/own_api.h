// The service's own REST API, below /api/v1 (docs/openapi.json, docs/service.md): plans, runs,
// infrastructures, uploads, results, recommendations, rehearsals and costs. The page uses only this API.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/http_server/server.h"
#include "runtime/serve/access.h"
#include "runtime/serve/own_call.h"
#include "runtime/serve/part.h"
#include "runtime/serve/request_slots.h"
#include "runtime/serve/run_events.h"
#include "runtime/serve/uploads.h"
#include "runtime/serve/users.h"
#include "runtime/serve/webhooks.h"
#include "runtime/serve/workspaces.h"

namespace radl::driver {
struct KnownFarm;
}

namespace radl::serve {

class OwnApi : public Part {
 public:
  // All must outlive this object.
  OwnApi(Users& users, Access& access, Workspaces& workspaces, Webhooks& webhooks);

  bool takes(const httpd::RequestHead& head) const override { return head.path.starts_with("/api/"); }
  Begun begin(const httpd::RequestHead& head, const Caller& caller) override;
  // Called for each response of the service, for the metrics.
  void count(int status);

 private:
  struct Route;
  class Upload;
  static const std::vector<Route>& routes();
  httpd::Answer answer(const Route& route, OwnCall& call);
  Begun begin_upload(const OwnCall& call);
  // Workspaces of the caller, or of any user if the caller may see them. NotFound.
  Result<std::shared_ptr<Workspace>> find(const OwnCall& call, const std::string& id) const;
  Result<std::shared_ptr<Workspace>> find_of(const OwnCall& call, const std::string& part) const;
  Result<std::shared_ptr<Workspace>> seen(const OwnCall& call, Result<std::shared_ptr<Workspace>> found,
                                          const std::string& id) const;
  std::vector<std::shared_ptr<Workspace>> all(const OwnCall& call) const;

  // own_api.cc
  httpd::Answer about(OwnCall& call);
  httpd::Answer openapi(OwnCall& call);
  httpd::Answer me(OwnCall& call);
  httpd::Answer metrics(OwnCall& call);
  // own_webhooks.cc
  httpd::Answer list_webhooks(OwnCall& call);
  httpd::Answer add_webhook(OwnCall& call);
  httpd::Answer remove_webhook(OwnCall& call);
  // own_infrastructures.cc
  httpd::Answer list_infrastructures(OwnCall& call);
  httpd::Answer create_infrastructure(OwnCall& call);
  httpd::Answer get_infrastructure(OwnCall& call);
  httpd::Answer remove_infrastructure(OwnCall& call);
  httpd::Answer get_program(OwnCall& call);
  httpd::Answer get_receipt(OwnCall& call);
  httpd::Answer list_jobs(OwnCall& call);
  httpd::Answer make_plan(OwnCall& call);
  httpd::Answer get_plan(OwnCall& call);
  // own_runs.cc
  httpd::Answer start_run(OwnCall& call);
  httpd::Answer list_runs(OwnCall& call);
  httpd::Answer get_run(OwnCall& call);
  httpd::Answer stop_run(OwnCall& call);
  httpd::Answer get_events(OwnCall& call);
  // own_results.cc
  httpd::Answer list_files(OwnCall& call);
  httpd::Answer list_results(OwnCall& call);
  httpd::Answer get_result(OwnCall& call);
  httpd::Answer predict(OwnCall& call);
  httpd::Answer remove_file(OwnCall& call);
  // own_farms.cc
  using FarmAnswer = std::function<httpd::Answer(const Workspace& of, const driver::KnownFarm& farm)>;
  using TaskChange = Status (*)(const driver::KnownFarm&, const std::vector<std::string>&, double);
  double wall_seconds() const;
  httpd::Answer with_farm(OwnCall& call, const FarmAnswer& answer);
  httpd::Answer with_output(OwnCall& call, const std::function<httpd::Answer(const std::string&)>& answer);
  httpd::Answer change_tasks(OwnCall& call, TaskChange change);
  httpd::Answer list_farms(OwnCall& call);
  httpd::Answer get_farm(OwnCall& call);
  httpd::Answer list_tasks(OwnCall& call);
  httpd::Answer add_tasks(OwnCall& call);
  httpd::Answer retry_tasks(OwnCall& call);
  httpd::Answer cancel_tasks(OwnCall& call);
  httpd::Answer get_curves(OwnCall& call);
  httpd::Answer get_timeline(OwnCall& call);
  httpd::Answer list_outputs(OwnCall& call);
  httpd::Answer get_output(OwnCall& call);
  // own_logs.cc
  httpd::Answer list_logs(OwnCall& call);
  httpd::Answer get_log(OwnCall& call);
  // own_tools.cc
  httpd::Answer answer_by_command(const OwnCall& call, std::vector<std::string> words, int also_fine = 0);
  httpd::Answer get_recommend(OwnCall& call);
  httpd::Answer post_recommend(OwnCall& call);
  httpd::Answer rehearse(OwnCall& call);
  httpd::Answer look_at_data(OwnCall& call);
  httpd::Answer cancel_job(OwnCall& call);
  httpd::Answer get_task_log(OwnCall& call);
  httpd::Answer get_measurements(OwnCall& call);
  httpd::Answer add_measurements(OwnCall& call);
  httpd::Answer prices(OwnCall& call);
  httpd::Answer costs(OwnCall& call);

  Users& users_;
  Access& access_;
  Workspaces& workspaces_;
  Webhooks& webhooks_;
  EventStreams streams_;
  Uploads uploads_;
  RequestSlots processes_{4, 8};
  RequestSlots plans_{8, 16};              // queries of clouds may take minutes
  std::atomic<uint64_t> answers_[6] = {};  // by the first digit of the status
};

}  // namespace radl::serve
