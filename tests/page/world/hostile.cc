#include "page/world/past.h"
#include "page/world/worlds.h"

namespace dutiful::page_world {
namespace {

using namespace std::chrono_literals;

// Each is the name of a task, and a part of its output.
std::vector<std::string> names() {
  std::string longest = "longest ";
  while (longest.size() < 1024) longest += "<b>wide</b>";
  longest.resize(1024);
  std::string longest_word(1000, 'W');
  return {
      "<script>window.pwned = 1</script>",
      "<img src=x onerror=\"window.pwned = 1\">",
      "\"><svg onload='window.pwned = 1'>",
      "</title><script>window.pwned = 1</script>",
      "</noscript></main><iframe src=//example.com></iframe>",
      "' onmouseover='window.pwned = 1",
      "&lt;b&gt;not bold&lt;/b&gt; &amp; &#60;i&#62;",
      "javascript:window.pwned=1",
      "@TITLE@ @ASSETS@ @PRELOADS@ @CONTENT@",
      "${window.pwned = 1} {{window.pwned = 1}} `window.pwned = 1`",
      "__proto__",
      "constructor",
      "toString",
      ".",
      "..",
      "../../etc/passwd",
      "a/b//c/",
      "?task=other&limit=1#fragment",
      "%2e%2e%2f%00%3Cscript%3E",
      " leading and trailing ",
      "\xe2\x80\xae"
      "gpj.exe (right-to-left override)",
      "\xe2\x81\xa6isolate that never ends",
      "zero\xe2\x80\x8bwidth\xe2\x80\x8d\xef\xbb\xbfjoiners",
      "line\nbreak\r\nand\ttab",
      "line\xe2\x80\xa8separator\xe2\x80\xa9paragraph",
      "bell \x07 escape \x1b[31m delete \x7f",
      "C1 \xc2\x9b"
      "31m control",
      "\xf0\x9f\x98\x80 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb emoji",
      "\xd8\xa7\xd9\x84\xd8\xb3\xd9\x84\xd8\xa7\xd9\x85 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d mixed",
      "Z\xcc\xb8\xcc\xa2\xcd\x85\xcc\x97\xcc\xa9\xcd\x99"
      "algo",
      longest,
      longest_word,
  };
}

Outcome outcome(const RunInfo& run) {
  std::string output = "begin\n" + run.task + "\n";
  output +=
      "\x1b[1;31mred and bold\x1b[0m \x1b]0;title\x07 \x1b]8;;http://example.com\x1b\\link"
      "\x1b]8;;\x1b\\ \x1b[2J\x1b[Hcleared\n";
  output += std::string{"NUL \0 byte, backspace \b\b\b, carriage\rreturn\n", 44};
  output += "invalid UTF-8: \xff\xfe \xc3( \xed\xa0\x80 \xf0\x9f\x98\n";
  output +=
      "override \xe2\x80\xae"
      "evitcelloc\xe2\x80\xac end\n";
  output += "<script>window.pwned = 2</script><img src=x onerror='window.pwned = 2'>\n";
  const bool fails = scramble(run) % 2 == 0;
  return {.duration = between(run, 1s, 2s), .exit_status = fails ? 1 : 0, .output = output};
}

}  // namespace

Instant make_hostile(const std::string& directory) {
  std::vector<PastTask> tasks;
  for (const std::string& name : names()) {
    tasks.push_back({.name = name,
                     .cron = "0 * * * *",
                     .settings = "run = [\"/bin/echo\", \"<script>window.pwned = 3</script>\"]\n"
                                 "environment = { \"<b>X</b>\" = \"secret\" }",
                     .retry_delay = 3h,
                     .outcome = outcome});
  }
  const Past past{directory, Zone::utc(), std::move(tasks)};
  const Instant until = at("2026-06-17T10:30:00Z");
  past.live(at("2026-06-17T06:30:00Z"), until, EndOfLife::stop);
  return until + 10s;
}

}  // namespace dutiful::page_world
