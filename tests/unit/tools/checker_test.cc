// The thread that checks: results belong to the text that was submitted, and nothing is lost.
#include "tools/lsp/checker.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tools/lsp/findings.h"

namespace radl::lsp {
namespace {

constexpr char kUri[] = "file:///nowhere/main.radl";

// Takes results as they come.
class Collector {
 public:
  Checker checker{[this] {
    std::lock_guard lock(mutex_);
    news_ = true;
    changed_.notify_one();
  }};

  std::vector<CheckResult> wait() {
    while (true) {
      std::vector<CheckResult> taken = checker.take();
      if (!taken.empty()) return taken;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return std::exchange(news_, false); });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool news_ = false;
};

TEST(Checker, FindingsAreOfTheTextThatWasSubmitted) {
  Workspace workspace({}, {});
  OpenDocument& open = workspace.open(kUri, 1, "system a (memory.sise >= 1G)\ndeploy b 1\n");
  CheckJob job = check_job(workspace, open);
  open.document.change(std::nullopt, "", Encoding::Utf16);  // the document goes on meanwhile
  open.current = nullptr;
  Collector collector;
  collector.checker.submit(job);
  std::vector<CheckResult> found = collector.wait();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].analysis, job.analysis);
  ASSERT_TRUE(found[0].findings);
  EXPECT_TRUE(found[0].findings->diagnostics.has_errors());
  EXPECT_EQ(*found[0].diagnostics, findings_json(*find_all(job)));
}

TEST(Checker, TheLastTextOfADocumentIsAlwaysChecked) {
  Workspace workspace({}, {});
  OpenDocument& open = workspace.open(kUri, 1, "");
  Collector collector;
  AnalysisPtr last;
  constexpr int kTexts = 200;
  for (int i = 0; i < kTexts; ++i) {
    open.document.change(std::nullopt, "system s" + std::to_string(i) + " ()\n", Encoding::Utf16);
    open.current = nullptr;
    last = workspace.analyse(open);
    collector.checker.submit(check_job(workspace, open));
  }
  std::vector<CheckResult> found;
  int results = 0;
  do {
    found = collector.wait();
    results += static_cast<int>(found.size());
  } while (found.back().analysis != last);
  EXPECT_LE(results, kTexts);
}

TEST(Checker, EndsWithWorkLeft) {
  Workspace workspace({}, {});
  Collector collector;
  for (int i = 0; i < 50; ++i) {
    OpenDocument& open = workspace.open("file:///nowhere/" + std::to_string(i), 1, "system a ()\n");
    collector.checker.submit(check_job(workspace, open));
  }
}

}  // namespace
}  // namespace radl::lsp
