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
import { ConsulServer, consulProgram } from '@leasehold/testing/consul-server'
import { EtcdServer, etcdctl, etcdProgram } from '@leasehold/testing/etcd-server'
import { serverProgram } from '@leasehold/testing/server-program'
import { median } from '../support/statistics.js'
import { table } from '../support/table.js'

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

const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
const servers: { stop(): Promise<void> }[] = []
const missing: string[] = []
const contenders: Contender[] = [
  { name: 'node -e (nothing but Node)', line: [process.execPath, '-e', "console.log('started')"] },
  {
    name: 'leasehold run, local',
    line: [process.execPath, leasehold, 'run', 'x', '-s', `local:${folder}/leases`, '--', ...command],
  },
]

const { path: flock } = serverProgram('FLOCK', 'flock')
if (flock === undefined) missing.push('flock')
else contenders.push({ name: 'flock', line: [flock, join(folder, 'lock'), ...command] })

const { path: consul } = consulProgram
if (consul === undefined) missing.push('consul lock')
else {
  const server = await ConsulServer.start()
  servers.push(server)
  contenders.push({ name: 'consul lock', line: [consul, 'lock', `-http-addr=${server.url}`, 'x', command.join(' ')] })
}
if (etcdProgram.path === undefined) missing.push('etcdctl lock')
else {
  const server = await EtcdServer.start()
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
  const rows = measured.map(({ contender, times }) => {
    const starts = times.map(({ start }) => start)
    const whole = median(times.map((time) => time.whole))
    return { name: contender.name, start: median(starts), least: Math.min(...starts), whole }
  })
  const [node = Number.NaN, own = Number.NaN] = rows.map(({ start }) => start)
  const head = 'program | to the start of the command, median | least | to its end, median | beside Node'
  const cells = rows.map(({ name, start, least, whole }) => [
    ...[name, ...[start, least, whole].map((time) => `${time.toFixed(0)} ms`)],
    (start / node).toFixed(1),
  ])
  console.log(table(head, cells))
  if (missing.length > 0) console.log(`\nNot installed here: ${missing.join(', ')}.`)
  const ratio = own / node
  const isIdle = node <= IDLE
  const isKept = ratio <= RATIO && (!isIdle || own <= BOUND)
  const bounds = `at most ${RATIO} times Node${isIdle ? `, and ${BOUND} ms` : ` (and ${BOUND} ms on an idle machine, which this is not)`}`
  console.log(`\nleasehold run: ${bounds}: ${isKept ? 'kept' : '**not kept**'}`)
  if (!isKept) process.exitCode = 1
} finally {
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(folder, { recursive: true, force: true })
}
