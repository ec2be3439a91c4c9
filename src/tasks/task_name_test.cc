#include "tasks/task_name.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace dutiful {
namespace {

TEST(TaskName, is_the_program_that_does_the_work) {
  struct Row {
    const char* command;
    const char* name;
  };
  for (const auto& [command, name] : std::initializer_list<Row>{
           {"/usr/local/bin/backup.sh", "backup"},
           {"cd / && run-parts --report /etc/cron.hourly", "run-parts-cron.hourly"},
           {"test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )",
            "run-parts-cron.daily"},
           {"[ -x /usr/lib/php/sessionclean ] && /usr/lib/php/sessionclean", "sessionclean"},
           {"command -v debian-sa1 > /dev/null && debian-sa1 1 1", "debian-sa1"},
           {"cd /srv && nice -n 19 ./backup.sh --full", "backup"},
           {"/usr/bin/php /srv/shop/artisan schedule:run >> /dev/null 2>&1", "artisan"},
           {"python3 -u /opt/report.py", "report"},
           {"flock -n /tmp/sync.lock rsync -a /a /b", "rsync"},
           {"flock /tmp/sync.lock -c 'sync.sh'", "sync"},
           {"sudo -u www-data -H /opt/x", "x"},
           {"timeout 300 curl -fsS https://example.com/ping", "curl"},
           {"FOO=bar LANG=C /opt/run", "run"},
           {"bash -c 'echo hi'", "echo"},
           {"systemctl restart nginx.service", "systemctl-restart-nginx.service"},
           {"certbot -q renew --deploy-hook \"systemctl reload nginx\"", "certbot"},
           {"* ; %", "task"},
           {"", "task"},
           {"sh", "sh"},
           {"./été", "t"}}) {
    EXPECT_EQ(name_of_command(command), name) << command;
  }
}

RC_GTEST_PROP(TaskNameProperty, is_short_and_plain, (const std::string& command)) {
  const std::string name = name_of_command(command);
  RC_ASSERT(!name.empty() && name.size() <= 40);
  RC_ASSERT(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                   "._-") == std::string::npos);
}

}  // namespace
}  // namespace dutiful
