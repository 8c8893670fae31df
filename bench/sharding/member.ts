/** One process of a region of counters, which sends messages as it is asked to. */
import { httpTransport, ShardRegion } from '@leasehold/sharding'
import { fromTransition } from 'xstate'
import { collectedMemory } from '../support/memory.js'
import { percentile } from '../support/statistics.js'
import { openServer } from './access.js'

export interface MemberTask {
  readonly url: string
  /** Of the region: records of processes that have ended do not disturb another one. */
  readonly name: string
  readonly owner: string
  readonly shards: number
  readonly hasState: boolean
  readonly passivateAfter?: number
}

export interface Speed {
  /** In milliseconds. */
  readonly time: number
  /** Processor time of the sender, in milliseconds. */
  readonly processor: number
  readonly outcomes: Readonly<Record<string, number>>
  /** Round trips in milliseconds; of questions only. */
  readonly p50: number
  readonly p99: number
}

interface CounterEvent {
  readonly type: 'add' | 'get'
  readonly reply?: (answer: number) => void
}

/** An entity as small as one can be. */
const counter = fromTransition((count: number, event: CounterEvent) => {
  const next = event.type === 'add' ? count + 1 : count
  event.reply?.(next)
  return next
}, 0)

export async function openMember(task: MemberTask) {
  const { store, state } = openServer('redis', task.url)
  const region = new ShardRegion(store, {
    name: task.name,
    owner: task.owner,
    shards: task.shards,
    entity: counter,
    transport: httpTransport({ address: 'http://127.0.0.1:0' }),
    capacity: 100_000,
    heartbeatTimeout: 30_000,
    heartbeatInterval: 2_000,
    operationTimeout: 2_000,
    ...(task.hasState ? { state } : {}),
    ...(task.passivateAfter === undefined ? {} : { passivateAfter: task.passivateAfter }),
  })
  return {
    async start(): Promise<void> {
      await region.start()
    },
    owned: (): readonly number[] => region.owned,
    entities: (): number => region.entities,
    resident: (): number => process.memoryUsage().rss,
    memory: () => collectedMemory(),
    stop: () => region.stop(),
    /** Sends to these entities by turns, `window` messages at a time. */
    tell: (ids: readonly string[], count: number, window: number): Promise<Speed> =>
      measure(ids, count, window, (id) => region.tell(id, { type: 'add' })),
    ask: (ids: readonly string[], count: number, window: number): Promise<Speed> =>
      measure(ids, count, window, (id) => region.ask(id, { type: 'get' }, { timeout: 30_000 }).then(() => 'answered')),
    /** One message to each of many entities, whose effect is saved. */
    touch: (first: number, step: number, end: number, window: number): Promise<Speed> => {
      const count = Math.ceil((end - first) / step)
      let place = first
      return measure([''], count, window, () => {
        const id = `counter-${place}`
        place += step
        return region.ask(id, { type: 'add' }, { timeout: 60_000 }).then(() => 'answered')
      })
    },
  }
}

async function measure(
  ids: readonly string[],
  count: number,
  window: number,
  send: (id: string) => Promise<string>,
): Promise<Speed> {
  const outcomes: Record<string, number> = {}
  const times: number[] = []
  const before = process.cpuUsage()
  const begun = performance.now()
  let sent = 0
  const lane = async (): Promise<void> => {
    while (sent < count) {
      const id = ids[sent % ids.length] ?? ''
      sent += 1
      const start = performance.now()
      const outcome = await send(id).catch((error: { readonly code?: string }) => error.code ?? 'error')
      if (times.length < 100_000) times.push(performance.now() - start)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: window }, lane))
  const time = performance.now() - begun
  const { user, system } = process.cpuUsage(before)
  const processor = (user + system) / 1_000
  return { time, processor, outcomes, p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}
