// The browser, the same for tests, pictures and benchmarks.

import {existsSync} from 'node:fs';

export const browserOptions = {
  executablePath: [process.env.CHROMIUM, '/usr/bin/chromium'].find((path) => path && existsSync(path)),
  // The daemon and its data are our own, so the sandbox, which root cannot use, protects nothing here.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--font-render-hinting=none'],
};
