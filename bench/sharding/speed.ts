import { setTimeout as sleep } from 'node:timers/promises'
import { type NumberReport, runBenchmark } from '../support/benchmark.js'
import { Child } from '../support/child.js'
import { busyMachine } from '../support/machine.js'
import { shown, table } from '../support/table.js'

import { type MemberTask, openMember, type Speed } from './member.js'
import { type Server, startServer } from './servers.js'

const program = new URL('member.ts', import.meta.url).href

type Member = Awaited<ReturnType<typeof openMember>>

const SHARDS = 64

/** How long a fleet may take to share its shards, in milliseconds. */
const LONGEST = 60_000

/** Messages a second that one process has to reach. */
const LOCAL_GOAL = 20_000
const REMOTE_GOAL = 5_000

const ENTITIES = 1_000_000
const PROCESSES = 6
/** The resident memory of all processes of the fleet together, in bytes. */
const MEMORY_GOAL = 1024 ** 3

/** The heap of each of them for old objects, in MiB: as for a container of about 200 MiB. */
const HEAP = 100

/** The time after which an entity of the million is passivated, in milliseconds. */
const PASSIVATE_AFTER = 2_000

export async function runSpeed(): Promise<void> {
  await runBenchmark({ local, remote, memory }, [], async () => {
    const server = await startServer('redis')
    return { server, machine: busyMachine('Redis for the leases and the entities'), stop: () => server.stop() }
  })
}

/** Processes that share all shards. */
async function fleet(
  server: Server,
  name: string,
  owners: readonly string[],
  { task = {}, heap }: { readonly task?: Partial<MemberTask>; readonly heap?: number } = {},
) {
  const members: Child<Member>[] = []
  for (const owner of owners) {
    const whole: MemberTask = { url: server.url, name, owner, shards: SHARDS, hasState: false, ...task }
    const member: Child<Member> = await Child.start(program, openMember, whole, heap === undefined ? {} : { heap })
    await member.ask('start')
    members.push(member)
  }
  const least = Math.floor(SHARDS / owners.length)
  for (let waited = 0; ; waited += 100) {
    const owned = await Promise.all(members.map((member) => member.ask('owned')))
    if (owned.flat().length === SHARDS && owned.every((shards) => shards.length >= least)) break
    if (waited > LONGEST) throw new Error(`the shards are not shared: ${owned.map((shards) => shards.length)}`)
    await sleep(100)
  }
  return members
}

const ids = Array.from({ length: 1_000 }, (_, place) => `counter-${place}`)

async function local(server: Server): Promise<NumberReport> {
  const [member] = await fleet(server, 'local', ['local'])
  if (member === undefined) throw new Error('there is no process')
  await member.ask('tell', ids, 20_000, 200)
  const tell = await member.ask('tell', ids, 200_000, 200)
  const alone = await member.ask('ask', ids, 10_000, 1)
  const asked = await member.ask('ask', ids, 100_000, 100)
  await member.kill()
  return {
    title: 'Messages within a process',
    body: rowsOf([
      ['`tell`, 200 at a time', tell],
      ['`ask`, one at a time', alone],
      ['`ask`, 100 at a time', asked],
    ]),
    failures: goal('local messages', rate(tell), LOCAL_GOAL),
  }
}

async function remote(server: Server): Promise<NumberReport> {
  // Both own a half of the shards, and send to all entities: half of the messages go over HTTP.
  const [one, other] = await fleet(server, 'remote', ['one', 'other'])
  if (one === undefined || other === undefined) throw new Error('there are no processes')
  const there = await remoteIds(other)
  await one.ask('tell', there, 20_000, 200)
  const tell = await one.ask('tell', there, 100_000, 200)
  const alone = await one.ask('ask', there, 3_000, 1)
  const asked = await one.ask('ask', there, 50_000, 100)
  const here = await remoteIds(one)
  const [first, second] = await Promise.all([one.ask('ask', there, 50_000, 100), other.ask('ask', here, 50_000, 100)])
  await Promise.all([one.kill(), other.kill()])
  return {
    title: 'Messages between two processes over HTTP',
    body: rowsOf([
      ['`tell`, 200 at a time', tell],
      ['`ask`, one at a time', alone],
      ['`ask`, 100 at a time', asked],
      ['`ask` in both directions, the first process', first],
      ['`ask` in both directions, the second process', second],
    ]),
    failures: [
      ...goal('remote messages', rate(tell), REMOTE_GOAL),
      ...goal('remote questions in both directions', Math.min(rate(first), rate(second)), REMOTE_GOAL),
    ],
  }
}

/** The ids whose entities live in that process. */
async function remoteIds(member: Child<Member>): Promise<readonly string[]> {
  const { shardOf } = await import('../../packages/sharding/src/hash.js')
  const owned = new Set(await member.ask('owned'))
  return ids.filter((id) => owned.has(shardOf(id, SHARDS)))
}

async function memory(server: Server): Promise<NumberReport> {
  const owners = Array.from({ length: PROCESSES }, (_, place) => `member-${place}`)
  const members = await fleet(server, 'memory', owners, {
    task: { hasState: true, passivateAfter: PASSIVATE_AFTER },
    heap: HEAP,
  })
  const sum = async (method: 'resident' | 'entities'): Promise<number> =>
    (await Promise.all(members.map((member) => member.ask(method)))).reduce((a, b) => a + b, 0)
  const before = await sum('resident')
  let isOver = false
  let peak = 0
  let most = 0
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, await sum('resident'))
      most = Math.max(most, await sum('entities'))
      await sleep(200)
    }
  })()
  const begun = performance.now()
  const speeds = await Promise.all(members.map((member, place) => member.ask('touch', place, PROCESSES, ENTITIES, 200)))
  const time = performance.now() - begun
  isOver = true
  await watching
  await sleep(2 * PASSIVATE_AFTER)
  const after = await sum('resident')
  const left = await sum('entities')
  const heaps = await Promise.all(members.map((member) => member.ask('memory')))
  const used = heaps.reduce((bytes, { heap }) => bytes + heap, 0)
  await Promise.all(members.map((member) => member.kill()))
  const answered = speeds.reduce((count, { outcomes }) => count + (outcomes.answered ?? 0), 0)
  const mebibytes = (bytes: number): string => `${shown(bytes / 1024 ** 2)} MiB`
  return {
    title: `${shown(ENTITIES)} entities in ${PROCESSES} processes`,
    body: [
      `Each entity got a message, was saved in Redis, and was passivated ${PASSIVATE_AFTER / 1_000} s later. ${shown(answered)} answers`,
      `came in ${shown(time / 1_000)} s. Each process has a heap of ${HEAP} MiB (\`--max-old-space-size=${HEAP}\`). The resident memory of`,
      `the six together, without Redis. At the end, ${mebibytes(used)} of their heaps are in use.`,
      '',
      table('when | memory | entities that run', [
        ['before', mebibytes(before), '0'],
        ['the most', mebibytes(peak), shown(most)],
        ['after', mebibytes(after), shown(left)],
      ]),
    ].join('\n'),
    failures: [
      ...(answered === ENTITIES
        ? []
        : [`only ${answered} entities have answered: ${JSON.stringify(speeds.map(({ outcomes }) => outcomes))}`]),
      ...(peak <= MEMORY_GOAL ? [] : [`the fleet had ${mebibytes(peak)}, more than ${mebibytes(MEMORY_GOAL)}`]),
    ],
  }
}

function rowsOf(rows: readonly (readonly [string, Speed])[]): string {
  return table(
    'what | a second | processor time of the sender for each | p50 | p99 | outcomes',
    rows.map(([what, speed]) => [
      what,
      shown(rate(speed)),
      `${shown((speed.processor * 1_000) / total(speed))} µs`,
      `${shown(speed.p50)} ms`,
      `${shown(speed.p99)} ms`,
      Object.entries(speed.outcomes)
        .map(([name, count]) => `${shown(count)} ${name}`)
        .join(', '),
    ]),
  )
}

function total({ outcomes }: Speed): number {
  return Object.values(outcomes).reduce((a, b) => a + b, 0)
}

function rate(speed: Speed): number {
  return (((speed.outcomes.delivered ?? 0) + (speed.outcomes.answered ?? 0)) / speed.time) * 1_000
}

function goal(what: string, reached: number, least: number): readonly string[] {
  return reached >= least ? [] : [`${shown(reached)} ${what} a second, not ${shown(least)}`]
}
