// Names for tasks that have only a command.
#pragma once

#include <string>
#include <string_view>

namespace dutiful {

// The program that does the work of a shell command, or the script that an interpreter runs. Has
// only letters, digits, `.`, `_` and `-`, and is never empty.
//
//   cd /srv && nice -n 19 ./backup.sh --full   ->  backup
//   /usr/bin/php /srv/shop/artisan schedule    ->  artisan
//   run-parts --report /etc/cron.daily         ->  run-parts-cron.daily
[[nodiscard]] std::string name_of_command(std::string_view command);

}  // namespace dutiful
