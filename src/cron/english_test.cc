#include "cron/english.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

TEST(English, reads_naturally) {
  struct Row {
    const char* text;
    const char* english;
  };
  for (const Row& row : std::initializer_list<Row>{
           // All day long
           {"* * * * *", "Every minute"},
           {"0,15,30,45 * * * *", "Every 15 minutes"},
           {"0,30 * * * *", "Every 30 minutes"},
           {"0 * * * *", "Every hour, on the hour"},
           {"1 * * * *", "At 1 minute past every hour"},
           {"5 * * * *", "At 5 minutes past every hour"},
           {"5,20 * * * *", "At 5 and 20 minutes past every hour"},
           {"5-10,20 * * * *", "At 5 through 10 and 20 minutes past every hour"},
           // At times of day
           {"15 3 * * *", "At 03:15, every day"},
           {"0 0 * * *", "At 00:00, every day"},
           {"0 9,12 * * *", "At 09:00 and 12:00, every day"},
           {"0,30 9-11 * * *", "At 09:00, 09:30, 10:00, 10:30, 11:00 and 11:30, every day"},
           // In stretches of the day
           {"* 9-17 * * *", "Every minute from 09:00 through 17:59"},
           {"* 3 * * *", "Every minute from 03:00 through 03:59"},
           {"0,15,30,45 9-17 * * *", "Every 15 minutes from 09:00 through 17:45"},
           {"0 9-17 * * *", "Every hour from 09:00 through 17:00"},
           {"0 0,2,4,6,8,10,12,14,16,18,20,22 * * *", "Every 2 hours"},
           {"5 0,2,4,6,8,10,12,14,16,18,20,22 * * *",
            "At 5 minutes past every 2nd hour from 00:00"},
           {"* 1,5,9 * * *", "Every minute of hours 1, 5 and 9"},
           {"5,7,9,11 3,8-10 * * *", "At 5, 7, 9 and 11 minutes past hours 3 and 8 through 10"},
           {"1,2,3,5,7,8,9 3 * * *", "At 1 through 3, 5 and 7 through 9 minutes past hour 3"},
           // Weekdays
           {"15 3 * * 1-5", "At 03:15, Monday through Friday"},
           {"15 3 * * 1", "At 03:15, every Monday"},
           {"15 3 * * 0,6", "At 03:15, every Saturday and Sunday"},
           {"15 3 * * 0,5,6", "At 03:15, Friday through Sunday"},
           {"15 3 * * 1,3,5", "At 03:15, every Monday, Wednesday and Friday"},
           {"* * * * 1-5", "Every minute, Monday through Friday"},
           // Days
           {"0 0 1 * *", "At 00:00, on the 1st of every month"},
           {"0 0 1,15 * *", "At 00:00, on the 1st and 15th of every month"},
           {"0 0 2,3,11,22,23,31 * *",
            "At 00:00, on the 2nd, 3rd, 11th, 22nd, 23rd and 31st of every month"},
           {"0 0 1-7 * *", "At 00:00, on the 1st through 7th of every month"},
           {"0 0 29 2 *", "At 00:00, on the 29th of February"},
           {"0 0 1 1,7 *", "At 00:00, on the 1st of January and July"},
           {"0 0 1 1-3 *", "At 00:00, on the 1st of every month from January through March"},
           // Months
           {"0 0 * 1 *", "At 00:00, every day in January"},
           {"0 0 * 6-8 *", "At 00:00, every day from June through August"},
           {"* * * 6-8 *", "Every minute, every day from June through August"},
           {"0 0 * 6-8 1", "At 00:00, every Monday from June through August"},
           // Days or weekdays (C4)
           {"0 0 13 * 5", "At 00:00, on the 13th of every month and also every Friday"},
           {"0 0 13 1 5", "At 00:00, on the 13th and also every Friday, in January"},
           {"0 0 1-31 * 5", "At 00:00, every day"},
       }) {
    EXPECT_EQ(to_english(CronExpression::parse(row.text)), row.english) << row.text;
  }
}

}  // namespace
}  // namespace dutiful
