import type { NumberReport } from './number-report.js'

/** `docs/benchmarks-redis.md`: everything that one run has measured. */
export function toDocument(machine: string, date: string, reports: readonly NumberReport[]): string {
  return [
    '# Benchmarks of the Redis provider',
    '',
    'Five numbers about locks on Redis, of `@leasehold/redis` and of three other libraries, side by side: one run of',
    '`npm run bench:redis -- --write`, which has written this page. It starts a `redis-server` of its own, that keeps',
    'nothing, and installs the rivals beside the benchmark.',
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
  '## How it was measured, and what that cannot tell',
  '',
  '- All libraries go through the same version of ioredis. `default` is a library as it comes, except for what it must be',
  '  told to wait at all (how often it retries), and the ttl; `tuned` is the best that was found in its documentation and',
  '  source for that number, in the column of settings; `by hand` is redlock with a renewal written by its user, because',
  '  its `using` keeps the expiry to itself. Times are in milliseconds.',
  '- Client and server are on one machine, without a network between them: what a round trip costs is not in the',
  '  figures, and a library that makes fewer of them gains more elsewhere than here.',
  '- Commands that clients sent are counted in the client: the counters of Redis (`INFO commandstats`, and',
  '  `total_commands_processed` as well) include what scripts call, which is the other column.',
  '- Holder and contender of the overlap are in one process, on one clock. An overlap shorter than the pause between two',
  '  looks is still seen where it lasts at the instant at which the acquire of the other resolves; it is not seen where it',
  '  ends before: that is between the grant by the server and the moment at which its receiver can act on it.',
  '- Those who wait for a hand-over are in one process, whose event loop also carries the polling: with 1,000 who poll, the',
  '  client is the limit, not the server.',
  '- Ours does not let the event loop sleep for the some 200 µs after a call in which a near server answers. That shortens a',
  '  single acquisition here; what the client spends is in the columns of its CPU. Over a network whose round trip takes longer,',
  '  it rests, but for one call in 65.',
  '- redlock counts the expiry of a lock from before its first attempt: who has waited for longer than the ttl is granted a',
  '  lock that its library takes for expired, is told so at once, and is not renewed. Told to wait without limit',
  '  (`retryCount: -1`), it also tries without limit to release what is gone: that promise never settles.',
  '- redlock, as it comes, waits for ever for the answer to an extension, and with it its signal: the client needs a time',
  '  limit. With one, and an expiry that is counted early enough for an attempt to fail, its signal is in time.',
  '- redlock-universal asks for Node 22 in its `engines`, and ran on the Node that is named above. Where its ttl is 1,250 ms',
  '  or less, its `using` extends without a pause between two extensions: its least interval is 1,000 ms. So it is cut off',
  '  with an extension under way, and with a time limit its signal is in time; the first extension that fails ends the lock.',
  '- redis-semaphore awaits no error of its refresh: where a time limit is set on the client, a refresh that fails is a',
  '  rejection that nobody can handle. The benchmark counts these; a program ends by default.',
  '- Nothing is discarded, and nothing is repeated until it fits.',
  '',
]
