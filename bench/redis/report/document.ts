import type { NumberReport } from './number-report.js'

/** `docs/benchmarks-redis.md`: everything that one run has measured. */
export function toDocument(machine: string, date: string, reports: readonly NumberReport[]): string {
  return [
    '# Benchmarks of the Redis provider',
    '',
    'Six numbers about locks on Redis, of `@leasehold/redis` and of three other libraries, side by side. One run of',
    '`npm run bench:redis -- --write`, has written this page. It starts a `redis-server` of its own, without files,',
    'and installs the rivals beside the benchmark.',
    '',
    `Measured on ${date}: ${machine}.`,
    '',
    '![The figures of this page as bars](benchmarks-redis.svg)',
    '',
    ...reports.flatMap(({ title, body }) => [`## ${title}`, '', body, '']),
    ...method,
  ].join('\n')
}

const method = [
  '## How it was measured, and the limits of the figures',
  '',
  '- All libraries use the same version of ioredis. `default` is a library with its own defaults, except for the ttl and for',
  '  the options that make it wait at all (how often it retries). `tuned` has the best options for that number that its',
  '  documentation and its source show; they are in the column of settings. `by hand` is redlock with a renewal that its user',
  '  writes, because its `using` does not show the expiry. Times are in milliseconds.',
  '- Client and server are on one machine. The figures do not include the time of a network: a library that makes fewer round',
  '  trips gains more over a network than here.',
  '- The commands that clients send are counted in the client. The counters of Redis (`INFO commandstats`, and',
  '  `total_commands_processed` as well) include the commands that scripts call; these are the other column.',
  '- Holder and challenger of the overlap are in one process, on one clock. An overlap that is shorter than the pause between',
  '  two looks is seen if it lasts until the acquire of the challenger resolves. It is not seen if it ends before: between the',
  '  grant on the server and the moment at which the challenger can act on it.',
  '- All waiters of a hand-over are in one process, and its event loop also does the polling. With 1,000 polling waiters, the',
  '  client is the limit, not the server.',
  '- With 1 in flight, a rival acquires and releases faster than ours, and there is no bound. A rival acquires with the native',
  '  command SET. Ours acquires with a script: it reads the record, compares the grant ids and the expiry, and gives a fencing',
  '  token. With one cycle at a time, the longer run of the script on the server counts in full. With 64 and more in flight,',
  '  ours is faster, because many operations share one call.',
  '- redlock counts the expiry of a lock from before its first attempt. After a wait that is longer than the ttl, it grants a',
  '  lock that it takes for expired, reports the loss at once, and does not renew the lock. With a wait without limit',
  '  (`retryCount: -1`), it also tries without limit to release a lock that is gone: that promise never settles.',
  '- redlock waits without limit for the answer to an extension, and its signal waits as well, unless the client has a time',
  '  limit. With a time limit, and an expiry that leaves time for one failed attempt, its signal is in time.',
  '- redlock-universal requires Node 22 in its `engines`, and ran on the Node that is named above. If its ttl is 1,250 ms or',
  '  less, its `using` extends without a pause between two extensions, because its smallest interval is 1,000 ms. So an',
  '  extension is always under way when it is cut off, and with a time limit its signal is in time: the first extension that',
  '  fails ends the lock.',
  '- redis-semaphore does not await its refresh. If the client has a time limit, a refresh that fails is an unhandled',
  '  rejection, which ends a program by default. The benchmark counts these.',
  '- No result is discarded, and no measurement is repeated to get a better one.',
  '',
]
