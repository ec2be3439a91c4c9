// Runs the set through a package of npm. cron_peer.cc describes the input and the output.
//
//   npm_peer.cjs cron-parser|croner SET [INSTANTS]
//
// INSTANTS limits the number of instants, for a slow package.
'use strict';

const fs = require('node:fs');

const [name, path, limit] = process.argv.slice(2);
const set = {expression: [], instant: [], case: []};
for (const line of fs.readFileSync(path, 'utf8').trimEnd().split('\n')) {
  const [kind, ...fields] = line.split('\t');
  if (kind === 'zone') set.zone = fields[0];
  else set[kind].push(fields);
}
const expressions = set.expression.map(([text]) => text);
const instants = set.instant.map(([at]) => new Date(at * 1000)).slice(0, limit);

// Each package as parse(text) and next(schedule, after), with its own option for the zone.
const peers = {
  'cron-parser': () => {
    const {CronExpressionParser} = require('cron-parser');
    return {
      parse: (text) => CronExpressionParser.parse(text, {tz: set.zone}),
      next: (schedule, after) => {
        schedule.reset(after);
        return schedule.next();
      },
    };
  },
  croner: () => {
    const {Cron} = require('croner');
    return {
      parse: (text) => new Cron(text, {timezone: set.zone}),
      next: (schedule, after) => schedule.nextRun(after),
    };
  },
};
const {parse, next} = peers[name]();

const lines = [];

// Records the answer and returns whether there was one.
function answer(text, after) {
  let result;
  try {
    const time = next(parse(text), after);
    result = time === null ? '! found none' : Math.floor(time.getTime() / 1000);
  } catch (error) {
    result = `! ${error.message}`;
  }
  lines.push(['answer', after.getTime() / 1000, text, result].join('\t'));
  return typeof result === 'number';
}

// The mean time of one call in nanoseconds, over as many passes as fill a second.
function meanOfCall(calls, pass) {
  let passes = 0;
  let elapsed = 0;
  const begin = process.hrtime.bigint();
  while (elapsed < 1e9) {
    pass();
    ++passes;
    elapsed = Number(process.hrtime.bigint() - begin);
  }
  return (elapsed / (passes * calls)).toFixed(1);
}

for (const [at, text] of set.case) answer(text, new Date(at * 1000));
const answered = expressions.filter(
    (text) => instants.map((instant) => answer(text, instant)).every((one) => one));
const schedules = answered.map(parse);
lines.push('parse\t' + meanOfCall(answered.length, () => {
  for (const text of answered) parse(text);
}));
lines.push('next\t' + meanOfCall(schedules.length * instants.length, () => {
  for (const schedule of schedules) {
    for (const instant of instants) next(schedule, instant);
  }
}));
process.stdout.write(lines.join('\n') + '\n');
