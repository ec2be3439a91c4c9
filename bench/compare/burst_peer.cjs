// Many jobs of croner, all due at one instant: prints how long after it they started.
const { Cron } = require("croner");

const tasks = Number(process.argv[2]);
// Enough time to register all jobs, which is not measured.
const due = Math.ceil(Date.now() / 1000 + 3 + tasks * 0.0005) * 1000;
const starts = [];
for (let i = 0; i < tasks; ++i) {
  new Cron(new Date(due), () => {
    starts.push((Date.now() - due) / 1000);
    if (starts.length === tasks) console.log(starts[0], starts[tasks >> 1], starts[tasks - 1]);
  });
}
if (Date.now() > due) {
  console.error("burst_peer: registering took too long");
  process.exit(1);
}
