#include "runtime/prompt_callback.h"

#include <memory>
#include <utility>

namespace dutiful {

class PromptCallback::Work final : public Callback::Work {
 public:
  explicit Work(std::function<void(Run)> function) : function_(std::move(function)) {}
  void call(Run& run) override { function_(std::move(run)); }
  [[nodiscard]] bool is_prompt() const noexcept override { return true; }

 private:
  std::function<void(Run)> function_;
};

Callback PromptCallback::make(std::function<void(Run)> function) {
  Callback callback;
  callback.work_ = std::make_shared<Work>(std::move(function));
  return callback;
}

bool PromptCallback::is(const Callback& callback) noexcept {
  return callback.work_ != nullptr && callback.work_->is_prompt();
}

}  // namespace dutiful
