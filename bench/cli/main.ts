/**
 * The time from the start of a program to the start of its command, as the first output of the command shows it. Fails where
 * `leasehold run` with the local store needs more than five times as long as a program of Node that does nothing else, and
 * on an idle machine also where it needs more than 250 ms.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LockingServer, programOf, startConsul, startEtcd } from './locking-servers.js'

const RUNS = 20

/** In milliseconds. */
const BOUND = 250
const RATIO = 5

/** Node starts within this time, in milliseconds, on a machine that is idle. */
const IDLE = 80

const leasehold = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url))
const command = ['echo', 'started']

interface Contender {
  readonly name: string
  readonly line: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

interface Times {
  /** To the first output of the command. */
  readonly start: number
  /** To the end of the program. */
  readonly whole: number
}

/** With additional certificates, each process of Node needs some 70 ms more, before it does anything. */
const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env

async function measure({ line: [program = '', ...args], env }: Contender): Promise<Times> {
  const startedAt = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...environment, ...env } })
  let start = Number.NaN
  child.stdout.once('data', () => {
    start = performance.now() - startedAt
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}`)
  return { start, whole: performance.now() - startedAt }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
const servers: LockingServer[] = []
const missing: string[] = []
const contenders: Contender[] = [
  { name: 'node -e (nothing but Node)', line: [process.execPath, '-e', "console.log('started')"] },
  {
    name: 'leasehold run, local',
    line: [process.execPath, leasehold, 'run', 'x', '-s', `local:${folder}/leases`, '--', ...command],
  },
]

const flock = programOf('flock')
if (flock === undefined) missing.push('flock')
else contenders.push({ name: 'flock', line: [flock, join(folder, 'lock'), ...command] })

const [consul, etcd, etcdctl] = [programOf('consul'), programOf('etcd'), programOf('etcdctl')]
if (consul === undefined) missing.push('consul lock')
else {
  const server = await startConsul(consul, folder)
  servers.push(server)
  contenders.push({ name: 'consul lock', line: [consul, 'lock', `-http-addr=${server.url}`, 'x', command.join(' ')] })
}
if (etcd === undefined || etcdctl === undefined) missing.push('etcdctl lock')
else {
  const server = await startEtcd(etcd, folder)
  servers.push(server)
  const line = [etcdctl, `--endpoints=${server.url}`, 'lock', 'x', ...command]
  contenders.push({ name: 'etcdctl lock', line, env: { ETCDCTL_API: '3' } })
}

try {
  const measured = contenders.map((contender) => ({ contender, times: [] as Times[] }))
  // In turns, so that the load of the machine is the same for all. The first round fills the caches.
  for (let round = 0; round <= RUNS; round += 1) {
    for (const { contender, times } of measured) {
      const time = await measure(contender)
      if (round > 0) times.push(time)
    }
  }
  const rows = measured.map(({ contender, times }) => ({
    name: contender.name,
    least: Math.min(...times.map(({ start }) => start)),
    start: median(times.map(({ start }) => start)),
    whole: median(times.map(({ whole }) => whole)),
  }))
  const [node, own] = rows
  console.log(
    '| program | to the start of the command, median | least | to its end, median | beside Node |\n|---|---|---|---|---|',
  )
  for (const { name, start, least, whole } of rows) {
    const shown = [start, least, whole].map((time) => `${time.toFixed(0)} ms`)
    console.log(`| ${name} | ${shown.join(' | ')} | ${(start / (node?.start ?? Number.NaN)).toFixed(1)} |`)
  }
  if (missing.length > 0) console.log(`\nNot installed here: ${missing.join(', ')}.`)
  const ratio = (own?.start ?? Number.NaN) / (node?.start ?? Number.NaN)
  const isIdle = (node?.start ?? Number.NaN) <= IDLE
  const isKept = ratio <= RATIO && (!isIdle || (own?.start ?? Number.NaN) <= BOUND)
  const bounds = `at most ${RATIO} times Node${isIdle ? `, and ${BOUND} ms` : ` (and ${BOUND} ms on an idle machine, which this is not)`}`
  console.log(`\nleasehold run: ${bounds}: ${isKept ? 'kept' : '**not kept**'}`)
  if (!isKept) process.exitCode = 1
} finally {
  await Promise.all(servers.map((server) => server.end()))
  rmSync(folder, { recursive: true, force: true })
}
