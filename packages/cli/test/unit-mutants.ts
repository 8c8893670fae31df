import type { UnitMutant } from '@leasehold/testing'

/** One-line changes that break a rule, each with the test that notices it. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'maxHold: starts again with a repeated claim',
    file: 'src/run/grant-validity.ts',
    find: 'const holdUntil = this.#grants.get(grantId)?.holdUntil ?? sentAt + this.#maxHold',
    replace: 'const holdUntil = sentAt + this.#maxHold',
    test: 'test/grant-validity.test.ts',
    name: 'also if a claim is repeated because its answer was lost',
  },
  {
    title: 'processes: those of a session in other groups are not found',
    file: 'src/run/command-processes.ts',
    find: 'led.has(entry.group) ||\n      led.has(entry.session)',
    replace: 'led.has(entry.group)',
    test: 'test/command-processes.test.ts',
    name: 'are also those of the session that are in another group',
  },
  {
    title: 'a command: starts after a signal that came before its start',
    file: 'src/run/command-run.ts',
    find: 'signals.stop.throwIfAborted()',
    replace: '',
    test: 'test/command-run.test.ts',
    name: 'is not started after a signal that came before its start',
  },
  {
    title: 'a command: gets no signals',
    file: 'src/run/command-run.ts',
    find: 'signals.direct(this)',
    replace: '',
    test: 'test/command-run.test.ts',
    name: 'gets the signals from its start to its end',
  },
  {
    title: 'watchdog: one that cannot be started is tried for ever',
    file: 'src/run/watchdog-link.ts',
    find: 'if (this.#failures >= ATTEMPTS) this.#onFailure?.(failure)',
    replace: '',
    test: 'test/watchdog-link.test.ts',
    name: 'gives a command up, if no watchdog can be started',
  },
  {
    title: 'watchdog: an answer is waited for without end',
    file: 'src/run/watchdog-link.ts',
    find: 'if (looks > LOOKS) action()',
    replace: 'if (looks > LOOKS) void action',
    test: 'test/watchdog-link.test.ts',
    name: 'gives a command up, if the watchdog does not answer',
  },
  {
    title: 'watchdog: a signal does not end the wait for the answer',
    file: 'src/run/watchdog-link.ts',
    find: "stop.addEventListener('abort', () => reject(stop.reason), { signal: ended.signal })",
    replace: '',
    test: 'test/watchdog-link.test.ts',
    name: 'gives a command up when it is stopped',
  },
]
