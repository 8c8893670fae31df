import type { NumberReport } from './number-report.js'

/** `docs/benchmarks-postgres.md`: everything that one run has measured. */
export function toDocument(machine: string, date: string, reports: readonly NumberReport[]): string {
  const failures = reports.flatMap((report) => report.failures)
  return [
    '# Benchmarks of the PostgreSQL provider',
    '',
    'Five numbers about locks on PostgreSQL: of `@leasehold/postgres`, of advisory locks, and of two packages of the',
    'registry. One run of `npm run bench -- postgres --write` has written this page. It starts a PostgreSQL of its own, with the',
    'settings of a server that keeps its data (`fsync` and `full_page_writes` on), and installs the rivals beside the benchmark.',
    '',
    `Measured on ${date}: ${machine}.`,
    '',
    'A million held leases, and how many leases one server carries: [The cost of holding](benchmarks-holding.md).',
    '',
    ...(failures.length === 0
      ? ['All goals were reached in this run.']
      : ['Goals that were not reached in this run:', '', ...failures.map((failure) => `- ${failure}`)]),
    '',
    ...reports.flatMap(({ title, body }) => [`## ${title}`, '', body, '']),
    ...method,
  ].join('\n')
}

const method = [
  '## How it was measured, and the limits of the figures',
  '',
  '- Client and server are on one machine, which other work shares. Absolute figures vary with that work; compare figures of',
  '  one table, which were measured in turns.',
  '- An advisory lock writes nothing: it lives in the memory of the server, ends with its connection, gives no fencing token',
  '  and no metadata, and is lost in a failover. A lease is a row: an acquire and a release are each a committed write.',
  '- A session that holds an advisory lock keeps its connection busy. With a pool of 10 connections, at most 10 names are held',
  '  at once. The leases of one process share the pool, whatever their number.',
  '- `advisory-lock` opens a connection for each lock. `pg-mutex-lock` tries again every 100 ms; the locks of one of its objects',
  '  are those of one session.',
  '- All waiters of a hand-over are in one process.',
  '- Bytes of the write-ahead log are those of the whole server, from before the first to after the last operation. A page that',
  '  is changed for the first time after a checkpoint is logged as a whole; that is included.',
  '- No result is discarded, and no measurement is repeated to get a better one.',
  '',
]
