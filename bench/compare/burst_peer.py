"""Many jobs of APScheduler, all due at one instant: prints how long after it they started."""

import datetime
import sys
import threading
import time

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.date import DateTrigger

tasks = int(sys.argv[1])
starts = []
done = threading.Event()


def job():
    starts.append(time.time())
    if len(starts) == tasks:
        done.set()


scheduler = BackgroundScheduler(
    timezone=datetime.timezone.utc,
    executors={"default": ThreadPoolExecutor(8)},
    job_defaults={"misfire_grace_time": None},
)
# Enough time to register all jobs, which is not measured.
due = int(time.time() + 3 + tasks * 0.0005)
trigger = DateTrigger(datetime.datetime.fromtimestamp(due, datetime.timezone.utc))
for _ in range(tasks):
    scheduler.add_job(job, trigger)
scheduler.start()
if time.time() > due:
    sys.exit("burst_peer: registering took too long")
done.wait()
scheduler.shutdown()
starts.sort()
print(starts[0] - due, starts[tasks // 2] - due, starts[-1] - due)
