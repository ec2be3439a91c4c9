// The program as an operator uses it: a process with a log and signals.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dutiful {

// No step takes this long, even on a busy host. If one does, something hangs.
constexpr std::chrono::seconds patience{60};

struct Ended {
  int status;  // 128 + the signal, if one killed it
  std::string out;
  std::string err;
};

// A process of the program, with its output in pipes.
class Process {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  // `become` is called in the new process, and returns whether it may continue.
  explicit Process(const std::vector<std::string>& arguments,
                   const Variables& variables = {},
                   const std::vector<int>& closed = {},
                   const std::function<bool()>& become = {}) {
    int out[2];
    int err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    // Another user may not have access to its directory.
    const int program = open(DUTIFUL_PROGRAM, O_PATH | O_CLOEXEC);
    process_ = fork();
    if (process_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      for (const int descriptor : closed) close(descriptor);
      std::vector<char*> texts{const_cast<char*>(DUTIFUL_PROGRAM)};
      for (const std::string& text : arguments) texts.push_back(const_cast<char*>(text.c_str()));
      texts.push_back(nullptr);
      if (become && !become()) _exit(126);
      if (become) execveat(program, "", texts.data(), environ, AT_EMPTY_PATH);
      execv(DUTIFUL_PROGRAM, texts.data());
      _exit(127);
    }
    close(program);
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Process() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    if (out_ >= 0) close(out_);
    if (err_ >= 0) close(err_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t id() const { return process_; }
  void signal(int number) const { kill(process_, number); }

  // The next line of the log; nothing at its end.
  std::optional<std::string> line() {
    while (true) {
      if (const auto newline = buffer_.find('\n'); newline != std::string::npos) {
        std::string text = buffer_.substr(0, newline);
        buffer_.erase(0, newline + 1);
        seen_ += text + '\n';
        return text;
      }
      pollfd waiting{.fd = out_, .events = POLLIN, .revents = 0};
      const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
      if (poll(&waiting, 1, static_cast<int>(limit.count())) <= 0) {
        throw std::runtime_error("the daemon logs nothing; so far: " + seen_);
      }
      char chunk[65536];
      const ssize_t size = read(out_, chunk, sizeof chunk);
      if (size <= 0) return std::nullopt;
      buffer_.append(chunk, static_cast<std::size_t>(size));
    }
  }

  // The next event of that name and, if given, of that task.
  nlohmann::json await(const std::string& event, const std::string& task = "") {
    while (const auto text = line()) {
      const auto parsed = nlohmann::json::parse(*text);
      if (parsed["event"] == event && (task.empty() || parsed["taskName"] == task)) return parsed;
    }
    throw std::runtime_error("the daemon ended without " + event + ": " + seen_);
  }

  // The same for a log in the format for people.
  void await_text(const std::string& part) {
    while (const auto text = line()) {
      if (text->find(part) != std::string::npos) return;
    }
    throw std::runtime_error("the daemon ended without " + part + ": " + seen_);
  }

  // Waits for its end.
  Ended end() {
    while (line()) {
    }
    std::string errors;
    char chunk[4096];
    ssize_t size = 0;
    while ((size = read(err_, chunk, sizeof chunk)) > 0) {
      errors.append(chunk, static_cast<std::size_t>(size));
    }
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), seen_, errors};
  }

 private:
  pid_t process_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string buffer_;
  std::string seen_;
};

inline Ended run_to_end(const std::vector<std::string>& arguments) {
  return Process{arguments}.end();
}

// A named pipe between a test and a command: the side that opens it first waits for the other.
class Fifo {
 public:
  explicit Fifo(std::string path) : path_(std::move(path)) {
    if (mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
  }
  // Unblocks a process that still waits to open it: a run of the next minute may have left one.
  ~Fifo() { close(open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

  // Returns what a command has written, after it has closed the pipe.
  std::string read_text() const {
    const int pipe = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    std::string text;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until) {
      pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
      if (poll(&waiting, 1, 1000) <= 0) continue;
      char chunk[4096];
      const ssize_t size = read(pipe, chunk, sizeof chunk);
      if (size > 0) text.append(chunk, static_cast<std::size_t>(size));
      if (size == 0) break;
    }
    close(pipe);
    if (text.empty()) throw std::runtime_error("no command writes to " + path_);
    return text;
  }

  // Releases a command that waits to read.
  void release() const { std::ofstream{path_} << "go\n"; }

 private:
  std::string path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace dutiful
