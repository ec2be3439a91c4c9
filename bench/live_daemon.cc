#include "live_daemon.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "time/iso8601.h"

namespace dutiful::bench {
namespace {

using std::chrono::system_clock;

constexpr std::chrono::seconds patience{300};

Instant instant_of(const nlohmann::json& text) {
  return parse_timestamp(text.get<std::string>())->instant(std::chrono::seconds{0});
}

pid_t spawn(const std::vector<std::string>& arguments, int log) {
  const pid_t process = fork();
  if (process != 0) return process;
  dup2(log, STDOUT_FILENO);
  setenv("TZ", "UTC", 1);
  std::vector<char*> texts{const_cast<char*>(DUTIFUL_PROGRAM)};
  for (const std::string& text : arguments) texts.push_back(const_cast<char*>(text.c_str()));
  texts.push_back(nullptr);
  execv(DUTIFUL_PROGRAM, texts.data());
  _exit(127);
}

}  // namespace

LiveDaemon::LiveDaemon(const std::string& directory,
                       std::size_t tasks,
                       const std::function<std::string(std::size_t)>& write_task) {
  const std::string file = directory + "/tasks.toml";
  {
    std::ofstream out{file};
    for (std::size_t i = 0; i < tasks; ++i) {
      out << "[[task]]\nname = \"task " << i << "\"\n" << write_task(i);
    }
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  log_ = Descriptor{ends[0]};
  const Descriptor write_end{ends[1]};
  // The limit on concurrent runs is not what is measured.
  process_ = spawn(
      {"run", file, "--state", directory + "/state", "--listen", "0", "--max-concurrent", "1000"},
      write_end.get());
  reader_ = std::thread{[this] { read_log(); }};
  const std::string address = nlohmann::json::parse(await("Listening", 1))["address"];
  port_ = static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
}

LiveDaemon::~LiveDaemon() {
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
  reader_.join();
}

// Until the daemon closes its end.
void LiveDaemon::read_log() {
  std::string buffer;
  std::vector<char> chunk(65536);
  while (true) {
    const ssize_t size = read(log_.get(), chunk.data(), chunk.size());
    const auto now = system_clock::now();
    if (size <= 0) return;
    buffer.append(chunk.data(), static_cast<std::size_t>(size));
    const std::lock_guard lock{mutex_};
    std::size_t begin_of_line = 0;
    for (auto end = buffer.find('\n'); end != std::string::npos;
         end = buffer.find('\n', begin_of_line)) {
      lines_.emplace_back(now, buffer.substr(begin_of_line, end - begin_of_line));
      begin_of_line = end + 1;
    }
    buffer.erase(0, begin_of_line);
    arrived_.notify_one();
  }
}

std::string LiveDaemon::await(const std::string& event, std::size_t count) {
  const std::string part = "\"event\":\"" + event + '"';
  std::unique_lock lock{mutex_};
  std::size_t next = 0;
  std::size_t found = 0;
  const bool arrived = arrived_.wait_for(lock, patience, [&] {
    for (; next < lines_.size() && found < count; ++next) {
      if (lines_[next].second.find(part) != std::string::npos) ++found;
    }
    return found == count;
  });
  if (!arrived) throw std::runtime_error("the log has too few events " + event);
  return lines_[next - 1].second;
}

std::vector<LoggedStart> LiveDaemon::starts() {
  std::vector<LoggedStart> starts;
  const std::lock_guard lock{mutex_};
  for (const auto& [arrival, line] : lines_) {
    if (line.find(R"("event":"TaskRunStarted")") == std::string::npos) continue;
    const auto event = nlohmann::json::parse(line);
    starts.push_back({.task = event["taskName"],
                      .scheduled = instant_of(event["scheduledTime"]),
                      .woken = instant_of(event["actualTime"]),
                      .logged = arrival,
                      .is_retry = event.value("isRetry", false)});
  }
  return starts;
}

std::string this_minute() {
  auto now = system_clock::now();
  const auto end = std::chrono::ceil<std::chrono::minutes>(now);
  if (end - now < std::chrono::seconds{15}) {
    std::this_thread::sleep_until(end);
    now = system_clock::now();
  }
  const std::chrono::hh_mm_ss time{now - std::chrono::floor<std::chrono::days>(now)};
  return std::to_string(time.minutes().count()) + ' ' + std::to_string(time.hours().count());
}

}  // namespace dutiful::bench
