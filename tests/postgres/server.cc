#include "postgres/server.h"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "postgres/plain_client.h"
#include "support/another_user.h"

namespace dutiful {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

// Starts a program whose output goes to the log. PostgreSQL refuses to run as root.
pid_t start(const std::vector<std::string>& words, const std::string& log) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int out = open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  if (geteuid() == 0 && !become_another_user()) _exit(126);
  // After the change of the user, which would cancel it. SIGQUIT ends the server at once, with its
  // children.
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  unsetenv("TZDIR");
  setenv("LC_ALL", "C", 1);
  execv(arguments[0], arguments.data());
  _exit(127);
}

// Whether another user reaches the file.
bool is_open_to_all(const fs::path& file) {
  fs::path folder = file;
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    if ((fs::status(folder).permissions() & fs::perms::others_exec) == fs::perms::none)
      return false;
  }
  return true;
}

}  // namespace

PostgresServer& PostgresServer::instance() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() {
  const std::string log = directory_.file("log");
  std::ofstream{log}.flush();
  const std::string programs = folder_of_programs();
  make_files(programs);
  process_ = start({programs + "/postgres",
                    "-D",
                    directory_.file("data"),
                    "-k",
                    directory_.file("."),
                    "-c",
                    "listen_addresses=",
                    "-c",
                    "fsync=off",
                    "-c",
                    "shared_buffers=16MB",
                    "-c",
                    "jit=off"},
                   log);
  await_start();
}

PostgresServer::~PostgresServer() {
  kill(process_, SIGQUIT);
  waitpid(process_, nullptr, 0);
}

// The server is found by its path and needs the files beside it. If only root reaches them, a copy
// does as well.
std::string PostgresServer::folder_of_programs() const {
  const fs::path programs{DUTIFUL_POSTGRES_PROGRAMS};
  if (!fs::exists(programs / "initdb") || !fs::exists(programs / "postgres")) {
    throw std::runtime_error("there is no PostgreSQL server at \"" + programs.string() +
                             "\"; ./do test unpacks Debian's package");
  }
  if (geteuid() != 0 || is_open_to_all(programs / "postgres")) return programs.string();
  const fs::path version = programs.parent_path();  // …/lib/postgresql/15
  const fs::path usr = version.parent_path().parent_path().parent_path();
  const fs::path copy = directory_.file("usr");
  for (const fs::path& part : {version.lexically_relative(usr) / "bin",
                               version.lexically_relative(usr) / "lib",
                               fs::path{"share/postgresql"} / version.filename()}) {
    fs::create_directories(copy / part);
    for (const fs::directory_entry& entry : fs::directory_iterator{usr / part}) {
      if (entry.path().filename() == "bitcode") continue;  // of the compiler, which is off
      fs::copy(entry.path(), copy / part / entry.path().filename(), fs::copy_options::recursive);
    }
  }
  return (copy / version.lexically_relative(usr) / "bin").string();
}

void PostgresServer::make_files(const std::string& programs) const {
  fs::permissions(directory_.file("."), fs::perms{0755});
  if (geteuid() == 0) {
    for (const char* path : {".", "log"}) {
      if (chown(directory_.file(path).c_str(), another_user, another_user) != 0) {
        throw std::runtime_error("cannot give a folder to another user");
      }
    }
  }
  const pid_t child = start({programs + "/initdb",
                             "-D",
                             directory_.file("data"),
                             "-U",
                             "owner",
                             "--auth=trust",
                             "--no-sync",
                             "--locale=C",
                             "--encoding=UTF8"},
                            directory_.file("log"));
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("initdb failed: " + contents(directory_.file("log")));
  }
  std::ofstream{directory_.file("data/pg_hba.conf")} << "local all guarded scram-sha-256\n"
                                                        "local all all trust\n";
}

// The server writes "ready" into this file, when it is.
void PostgresServer::await_start() const {
  const std::string state = directory_.file("data/postmaster.pid");
  const int watch = inotify_init1(IN_CLOEXEC);
  inotify_add_watch(watch, directory_.file("data").c_str(), IN_MODIFY | IN_CLOSE_WRITE);
  while (contents(state).find("ready") == std::string::npos) {
    if (waitpid(process_, nullptr, WNOHANG) != 0) {
      throw std::runtime_error("PostgreSQL did not start: " + contents(directory_.file("log")));
    }
    // It writes its log too late for a notice of its end to be missed.
    pollfd ready{.fd = watch, .events = POLLIN, .revents = 0};
    poll(&ready, 1, 1000);
    std::array<char, 4096> events{};
    if (ready.revents != 0 && read(watch, events.data(), events.size()) < 0) break;
  }
  close(watch);
}

std::string PostgresServer::make_database() {
  const std::string name = "d" + std::to_string(++databases_);
  PlainClient{address("postgres")}.run("CREATE DATABASE " + name);
  return name;
}

std::string PostgresServer::address(const std::string& database) const {
  return address(database, "owner");
}

std::string PostgresServer::address(const std::string& database,
                                    const std::string& user,
                                    const std::string& password) const {
  return "postgresql://" + user + (password.empty() ? "" : ":" + password) + "@/" + database +
         "?host=" + directory_.file("");
}

}  // namespace dutiful
