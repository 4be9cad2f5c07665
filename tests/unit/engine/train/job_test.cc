// The job file as docs/job.md promises it: what is read, what is refused, and with which words.
#include "engine/train/job.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/files.h"
#include "tests/support/paths.h"

namespace radl::engine {
namespace {

const std::string kGolden = test::source_dir() + "/tests/unit/engine/train/golden/";

std::string must_read(const std::string& path) {
  Result<std::string> text = read_file(path);
  EXPECT_TRUE(text.ok()) << text.status().text();
  return text.ok() ? *text : "";
}

// A job with `change` merged in at the end of its object.
std::string with(const std::string& change) {
  return R"({"job": 1, "dataset": {"directory": "d"}, )" + change + "}";
}

std::string refused(const std::string& text) {
  Result<Job> job = parse_job(text, "j.json");
  EXPECT_FALSE(job.ok()) << text;
  return job.ok() ? "" : job.status().message();
}

TEST(Job, DocumentedExampleReads) {
  std::string doc = must_read(test::source_dir() + "/docs/job.md");
  size_t begin = doc.find("```json\n") + 8;
  std::string text = doc.substr(begin, doc.find("```", begin) - begin);
  Result<Job> job = parse_job(text, "docs/job.md");
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_EQ(job->model, "resnet20");
  EXPECT_EQ(job->batch_size, 128);
  EXPECT_EQ(job->sync.mode, SyncMode::Async);
  ASSERT_EQ(job->cluster.worker.size(), 2u);
  EXPECT_EQ(job->cluster.worker[1], "127.0.1.4:40004");
  EXPECT_EQ(job->task.name(), "worker/0");
  EXPECT_DOUBLE_EQ(job->peer_timeout_seconds, 10);
}

TEST(Job, WriterGivesGoldenBytesAndReadsBack) {
  std::string golden = must_read(kGolden + "job.json");
  Result<Job> job = parse_job(golden, "job.json");
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_EQ(write_job(*job), golden);
  EXPECT_EQ(job->sync.gradients, Encoding::Bf16);
  EXPECT_EQ(job->optimizer.name, "adamw");
  EXPECT_EQ(job->resume, Resume::Require);
}

TEST(Job, DefaultsAreWrittenAndWhatTheEngineChoosesIsNot) {
  Job job;
  job.dataset.directory = "data";
  EXPECT_EQ(write_job(job), must_read(kGolden + "job_defaults.json"));
}

TEST(Job, UnknownKeysAreNamedWithTheNearest) {
  EXPECT_EQ(refused(with(R"("epoch": 3)")), "j.json: epoch: unknown key; did you mean \"epochs\"?");
  EXPECT_EQ(refused(with(R"("optimizer": {"momentun": 0.9})")),
            "j.json: optimizer.momentun: unknown key; did you mean \"momentum\"?");
  EXPECT_EQ(refused(with(R"("colour": "red")")), "j.json: colour: unknown key");
}

TEST(Job, AllProblemsAreSaidAtOnce) {
  EXPECT_EQ(refused(with(R"("epochs": -1, "batch_size": 1.5, "sync": {"mode": "asinc"}, "seed": -2)")),
            "j.json: batch_size: must be an integer\n"
            "j.json: epochs: is -1, must be above 0 and at most 1e+06\n"
            "j.json: seed: must be an integer, at least 0\n"
            "j.json: sync.mode: \"asinc\" is not one of async, sync, stale, allreduce or auto (did you mean "
            "\"async\"?)");
}

TEST(Job, TypesAndRanges) {
  EXPECT_EQ(refused(with(R"("model": 3)")), "j.json: model: must be a string");
  EXPECT_EQ(refused(with(R"("augment": {"flip": 1})")),
            "j.json: augment.flip: must be a string: none, random or alternate");
  EXPECT_EQ(refused(with(R"("augment": [])")), "j.json: augment: must be an object");
  EXPECT_EQ(refused(with(R"("threads": 99999999999)")),
            "j.json: threads: is 1e+11, must be at least 0 and at most 4096");
  EXPECT_EQ(refused(with(R"("schedule": {"name": "step", "milestones": [0.5, "x"]})")),
            "j.json: schedule.milestones[1]: must be a number");
  EXPECT_EQ(refused(with(R"("checkpoint": {"keep": 0})")),
            "j.json: checkpoint.keep: is 0, must be at least 1 and at most 1000");
  EXPECT_EQ(refused("[]"), "j.json: the file: must be an object");
}

TEST(Job, APaceTakesThePlaceOfLearning) {
  Result<Job> paced = parse_job(with(R"("pace": {"seconds_per_image": 0.001})"), "j.json");
  ASSERT_TRUE(paced.ok()) << paced.status().text();
  EXPECT_TRUE(paced->pace.given());
  EXPECT_EQ(parse_job(write_job(*paced), "j.json")->pace.seconds_per_image, 0.001);
  Job computed = *paced;
  computed.pace = {};
  EXPECT_NE(job_digest(*paced), job_digest(computed)) << "members that compute and members that wait";
  EXPECT_EQ(refused(with(R"("pace": {"spread": 0.1})")),
            "j.json: pace: needs fixed_seconds or seconds_per_image");
  EXPECT_NE(
      refused(with(R"("pace": {"fixed_seconds": 1}, "directories": {"model": "m"})")).find("learns nothing"),
      std::string::npos);
}

TEST(Job, HowAMachineAsksForItsEndIsChecked) {
  EXPECT_EQ(refused(with(R"("interruption": "ec2")")), "j.json: interruption: must be an object");
  EXPECT_EQ(
      refused(with(R"("interruption": {"headers": {"Metadata": true}, "session_header": "x", "sais": "y"})")),
      "j.json: interruption.headers.Metadata: must be a string\n"
      "j.json: interruption.url: is missing: where this machine asks\n"
      "j.json: interruption.session_url: and session_header belong together\n"
      "j.json: interruption.sais: unknown key; did you mean \"says\"?");
  EXPECT_EQ(refused(with(R"("interruption": {"url": "file:///etc/passwd"})")),
            "j.json: interruption.url: is \"file:///etc/passwd\", which is not an http or https URL");
}

TEST(Job, VersionMustBeKnown) {
  EXPECT_EQ(refused(R"({"dataset": {"directory": "d"}})"),
            "j.json: job: is missing: the version of the job file, 1");
  Result<Job> newer = parse_job(R"({"job": 2, "something_new": true})", "j.json");
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.status().code(), Code::Unsupported);
  EXPECT_EQ(newer.status().message(),
            "j.json: job: version 2 is not known here, this program reads version 1");
}

TEST(Job, SyntaxErrorsNameLineAndColumn) {
  EXPECT_EQ(refused("{\"job\": 1,\n  oops}").substr(0, 11), "j.json:2:3:");
  EXPECT_EQ(refused(R"({"job": 1, "job": 1})"), "j.json: key \"job\" is given more than once in one object");
  EXPECT_NE(refused("2E01114").find("number overflow"), std::string::npos);
}

TEST(Job, ClusterIsChecked) {
  const std::string good = R"("secrets": "k", "task": {"type": "worker", "index": 0}, "cluster": )";
  EXPECT_EQ(refused(with(good + R"({"worker": ["a:1"]})")),
            "j.json: cluster.ps: mode \"async\" needs a parameter server");
  EXPECT_EQ(refused(with(good + R"({"worker": ["a:1"], "ps": ["a:1"]})")),
            "j.json: cluster.worker[0]: a:1 is given more than once");
  EXPECT_EQ(refused(with(good + R"({"worker": ["a"], "ps": ["b:70000"]})")),
            "j.json: cluster.ps[0]: has no port from 1 to 65535 after the colon\n"
            "j.json: cluster.worker[0]: must be \"host:port\"");
  EXPECT_EQ(refused(with(good + R"({"worker": ["::1:5"], "ps": ["b:1"]})")),
            "j.json: cluster.worker[0]: must have its IPv6 address in brackets: \"[::1]:port\"");
  EXPECT_EQ(
      refused(with(
          R"("secrets": "k", "task": {"type": "worker", "index": 2}, "cluster": {"worker": ["a:1"], "ps": ["b:1"]})")),
      "j.json: task.index: is 2, but the cluster has 1 of type worker");
  EXPECT_EQ(refused(with(
                R"("task": {"type": "worker", "index": 0}, "cluster": {"worker": ["a:1"], "ps": ["b:1"]})")),
            "j.json: secrets: is missing: the members of a cluster need the job's key");
  EXPECT_EQ(refused(with(R"("task": {"type": "worker"})")), "j.json: task: has no meaning without a cluster");
  EXPECT_EQ(refused(with(good + R"({"worker": ["a:1"], "ps": ["b:1"]}, "sync": {"staleness": 2})")),
            "j.json: sync.staleness: has no meaning in mode \"async\"");
}

TEST(Job, RelativePathsAreBesideTheFile) {
  std::string folder = std::filesystem::temp_directory_path() / ("radl-job-" + std::to_string(getpid()));
  ASSERT_TRUE(make_directories(folder).ok());
  ASSERT_TRUE(write_file_atomic(folder + "/job.json",
                                R"({"job": 1, "dataset": {"directory": "data/x"}, "progress": "../p.jsonl",
                                    "directories": {"model": "/abs/model"}})")
                  .ok());
  Result<Job> job = read_job(folder + "/job.json");
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_EQ(job->dataset.directory, folder + "/data/x");
  EXPECT_EQ(job->progress, std::filesystem::path(folder).parent_path() / "p.jsonl");
  EXPECT_EQ(job->directories.model, "/abs/model");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(read_job(folder + "/job.json").status().code(), Code::NotFound);
}

TEST(TfConfig, GivesClusterAndTask) {
  Job job;
  job.dataset.directory = "d";
  job.secrets = "key";
  Status read = apply_tf_config(
      job, R"({"cluster": {"chief": ["h0:2222"], "ps": ["h1:2222"], "worker": ["h2:1", "h3:1"],
      "evaluator": ["h4:1"]}, "task": {"type": "worker", "index": "1"}, "environment": "cloud"})");
  ASSERT_TRUE(read.ok()) << read.text();
  EXPECT_EQ(job.cluster.chief, std::vector<std::string>{"h0:2222"});
  EXPECT_EQ(job.cluster.worker[1], "h3:1");
  EXPECT_EQ(job.task.name(), "worker/1");
}

TEST(TfConfig, MasterIsChiefAndNoClusterIsOneProcess) {
  Job job;
  job.dataset.directory = "d";
  job.secrets = "key";
  ASSERT_TRUE(apply_tf_config(job, R"({"task": {"type": "worker", "index": 0}})").ok());
  EXPECT_TRUE(job.cluster.empty());
  ASSERT_TRUE(apply_tf_config(job, R"({"cluster": {"master": ["h0:1"], "ps": ["h1:1"], "worker": ["h2:1"]},
                                       "task": {"type": "master", "index": 0}})")
                  .ok());
  EXPECT_EQ(job.task.name(), "chief/0");
}

TEST(TfConfig, Refusals) {
  Job job;
  job.dataset.directory = "d";
  job.secrets = "key";
  auto message = [&](const std::string& text) { return apply_tf_config(job, text).message(); };
  EXPECT_EQ(message(R"({"cluster": {"worker": 3}, "task": {}})"),
            "TF_CONFIG: cluster.worker must be a list of \"host:port\"");
  EXPECT_EQ(message(R"({"cluster": {"wroker": ["a:1"]}})"),
            "TF_CONFIG: cluster.wroker is not one of chief, master, ps, worker, evaluator");
  EXPECT_EQ(message(R"({"cluster": {"worker": ["a:1"], "ps": ["b:1"]}})"), "TF_CONFIG: task is missing");
  EXPECT_EQ(
      message(R"({"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, "task": {"type": "worker", "index": -1}})"),
      "TF_CONFIG: task.index must be an integer, at least 0");
}

TEST(Job, DigestIgnoresWhoAndWhereButNotWhat) {
  Job a;
  a.dataset.directory = "one";
  Job b = a;
  b.dataset.directory = "two";
  b.threads = 3;
  b.task = {"worker", 1};
  b.progress = "elsewhere";
  EXPECT_EQ(job_digest(a), job_digest(b));
  b.schedule.peak = 2;
  EXPECT_NE(job_digest(a), job_digest(b));
}

TEST(Job, AResumptionMayChangeHowLongAndWhereButNotHow) {
  Job a;
  a.dataset.directory = "one";
  Job b = a;
  b.dataset.directory = "two";
  b.dataset.test = 100;
  b.epochs *= 3;
  b.evaluate.every_epochs = 5;
  b.checkpoint.keep = 7;
  b.cluster.worker = {"a:1", "b:1", "c:1"};
  b.threads = 3;
  b.directories.model = "elsewhere";
  EXPECT_EQ(resume_settings(a), resume_settings(b));
  EXPECT_EQ(differing_settings(resume_settings(a), resume_settings(b)), "");
  b.seed = 2;
  b.schedule.peak = 0.25;
  b.dataset.train = 10;
  EXPECT_EQ(differing_settings(resume_settings(a), resume_settings(b)),
            "dataset.train (0, now 10), seed (1, now 2), schedule.peak (not given, now 0.25)");
  EXPECT_EQ(differing_settings("damaged", resume_settings(b)), "all settings");
}

TEST(Job, AnAverageIsADecayOrAnObject) {
  auto average = [](const std::string& text) {
    return parse_job(with("\"average\": " + text), "j.json")->average;
  };
  EXPECT_EQ(average("0").kind, "none");
  EXPECT_EQ(average("0.5").kind, "ema");
  EXPECT_EQ(average("0.5").decay, 0.5);
  EXPECT_EQ(average(R"({"kind": "swa", "from": 0.75})").from, 0.75);
  EXPECT_EQ(refused(with(R"("average": {"kind": "sma"})")),
            "j.json: average.kind: \"sma\" is not one of none, ema or swa (did you mean \"ema\"?)");
  EXPECT_EQ(refused(with(R"("batch_size": 128, "accumulate": 200)")),
            "j.json: accumulate: is 200, more than the 128 images of a batch");
}

}  // namespace
}  // namespace radl::engine
