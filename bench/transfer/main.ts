/**
 * Rolling restarts: `npm run bench -- transfer [ROUNDS] [redis | postgres]`. Three processes write under the term of their
 * election. In each round the leader gets a SIGTERM and another process takes its place. In every tenth round the leader or the
 * next leader is killed in the middle of the transfer. Prints for how long nobody wrote, overlaps, and refused writes of a
 * valid leader; the last two have to be 0.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LeaderElection } from '@leasehold/recipes'
import { bundleWithEdits } from '@leasehold/testing/bundle-with-edits'
import { largest, median, percentile } from '../support/statistics.js'
import { openAccess, startBackend } from './backends.js'
import type { Message } from './instance.js'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
/** In one file, so that an instance starts in little time. */
const program = join(folder, 'instance.mjs')
const [entry, sources] = ['./instance.ts', './'].map((path) => fileURLToPath(new URL(path, import.meta.url))) as [
  string,
  string,
]

/** How long a restart waits once the candidates are ready, in milliseconds: the new process is done with its start. */
const SETTLE = 200

/** In every tenth round, a process is killed. */
const KILLS = 10

/** How long a round waits for a writer, in milliseconds. */
const LONGEST = 20_000

interface Instance {
  readonly owner: string
  readonly child: ChildProcess
  readonly exited: Promise<unknown>
}

/** All writes, in the order of their terms. */
class Log {
  /** The first and the last write of each term. */
  readonly terms = new Map<bigint, { first: number; last: number; readonly owner: string }>()
  refused = 0

  onMessage(owner: string, message: Message): void {
    if (message.type === 'refused') {
      if (message.isValid) this.refused += 1
      return
    }
    const term = BigInt(message.term)
    const known = this.terms.get(term) ?? { first: message.at, last: message.at, owner }
    known.last = message.at
    this.terms.set(term, known)
  }

  get latest(): { readonly term: bigint; readonly owner: string } | undefined {
    const term = [...this.terms.keys()].reduce<bigint | undefined>(
      (a, b) => (a === undefined || b > a ? b : a),
      undefined,
    )
    return term === undefined ? undefined : { term, owner: this.terms.get(term)?.owner ?? '' }
  }

  /** The time between the last write of a term and the first of the next, in milliseconds; negative if they overlap. */
  gapBefore(term: bigint): number {
    const last = [...this.terms].filter(([other]) => other < term).map(([, { last }]) => last)
    return (this.terms.get(term)?.first ?? Number.NaN) - largest(last)
  }
}

async function measure(kind: string, rounds: number): Promise<boolean> {
  const backend = await startBackend(kind)
  const log = new Log()
  const instances: Instance[] = []
  let count = 0
  const add = (): void => {
    count += 1
    const owner = `instance-${String(count).padStart(5, '0')}`
    const child = fork(program, [kind, backend.url, owner], { execArgv: [] })
    child.on('message', (message: Message) => log.onMessage(owner, message))
    instances.push({ owner, child, exited: once(child, 'exit') })
  }
  const { store, close } = openAccess(kind, backend.url)
  const observer = new LeaderElection(store, { name: 'writer', owner: 'observer' })
  const gaps = { transfers: [] as number[], kills: [] as number[] }
  try {
    for (let place = 0; place < 3; place += 1) add()
    await until('somebody writes', () => log.latest !== undefined)
    for (let round = 1; round <= rounds; round += 1) {
      // The new instances start their programs first.
      const leader = instances.find(({ owner }) => owner === log.latest?.owner)
      await until('two candidates are ready', async () => {
        // Records of killed instances stay for a ttl.
        const ready = new Set((await observer.candidates()).map(({ owner }) => owner))
        return instances.every((instance) => instance === leader || ready.has(instance.owner))
      })
      await sleep(SETTLE)
      const before = log.latest?.term ?? 0n
      if (leader === undefined) throw new Error('the leader is not known')
      leader.child.kill('SIGTERM')
      const isKilled = round % KILLS === 0
      const victim = isKilled ? await killOne(round, leader, instances) : undefined
      await until(`round ${round}: another one writes`, () => (log.latest?.term ?? 0n) > before)
      ;(isKilled ? gaps.kills : gaps.transfers).push(log.gapBefore(log.latest?.term ?? 0n))
      for (const ended of new Set([leader, victim ?? leader])) {
        await ended.exited
        instances.splice(instances.indexOf(ended), 1)
        add()
      }
    }
  } finally {
    for (const { child } of instances) child.kill('SIGKILL')
    await Promise.all(instances.map(({ exited }) => exited))
    await close()
    await backend.stop()
  }
  return report(kind, gaps, log)
}

/** Kills the leader, or the next one: that with the first name, since all have the same rank. */
async function killOne(round: number, leader: Instance, instances: readonly Instance[]): Promise<Instance | undefined> {
  const others = instances.filter((instance) => instance !== leader)
  const victim = (round / KILLS) % 2 === 1 ? leader : others[0]
  await sleep(round % 7)
  victim?.child.kill('SIGKILL')
  return victim
}

function report(kind: string, { transfers, kills }: { transfers: number[]; kills: number[] }, log: Log): boolean {
  const ordered = [...log.terms.keys()].sort((a, b) => (a < b ? -1 : 1))
  const overlaps = ordered.slice(1).filter((term) => log.gapBefore(term) < 0).length
  const shown = (gaps: readonly number[]): string =>
    `p50 ${median(gaps).toFixed(1)}, p99 ${percentile(gaps, 0.99).toFixed(1)}, longest ${largest(gaps).toFixed(1)} ms`
  console.log(`${kind}: ${transfers.length} transfers without a writer for ${shown(transfers)}`)
  if (kills.length > 0) console.log(`${kind}: ${kills.length} rounds with a kill: ${shown(kills)}`)
  console.log(`${kind}: ${overlaps} overlaps, ${log.refused} refused writes of a valid leader`)
  return overlaps === 0 && log.refused === 0
}

async function until(what: string, isIt: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await isIt()); waited += 10) {
    if (waited > LONGEST) throw new Error(`${what}: not within ${LONGEST} ms`)
    await sleep(10)
  }
}

const [rounds = '1000', ...kinds] = process.argv.slice(2)
await bundleWithEdits({ entry, sources, edits: [] }, program)
try {
  for (const kind of kinds.length === 0 ? ['redis', 'postgres'] : kinds) {
    if (!(await measure(kind, Number(rounds)))) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}
