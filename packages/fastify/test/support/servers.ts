import { type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import Fastify, { type FastifyInstance } from 'fastify'
import Fastify50 from 'fastify-5.0'
import { onTestFinished } from 'vitest'
import { type FastifyLeasesOptions, fastifyLeases } from '../../src/index.js'

/** Both ends of the range of peers. */
export const versions = [
  ['5.12', Fastify],
  ['5.0', Fastify50 as unknown as typeof Fastify],
] as const

export const TTL = 10_000
export const MINUTE = 60_000

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly plugin?: string
  readonly reqId?: string
  readonly err?: { readonly message: string }
}

/** A place for servers of one service: a store in virtual time that fails while `isDown`, and what the servers have logged. */
export function createPlace(createServer: typeof Fastify) {
  const clock = new VirtualClock()
  const place = { isDown: false }
  const plan = () => (place.isDown ? ({ kind: 'fail-before' } as const) : undefined)
  const store: LeaseStore = new FaultyStore(new MemoryLeaseStore({ clock }), { plan, clock })
  const lines: LogLine[] = []
  const times = { heartbeatTimeout: TTL, heartbeatInterval: 2_000, operationTimeout: 1_000 }
  const options: FastifyLeasesOptions = { store, ...times, clock, random: () => 0.5 }
  const bare = (): FastifyInstance => {
    const fastify = createServer({
      logger: { level: 'debug', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } },
    })
    onTestFinished(async () => await fastify.close())
    return fastify
  }
  const start = async (own: Partial<FastifyLeasesOptions> = {}): Promise<FastifyInstance> => {
    const fastify = bare()
    await fastify.register(fastifyLeases, { ...options, ...own })
    return fastify
  }
  return { clock, place, store, lines, options, bare, start, now: () => new Date(clock.wall()) }
}

/** A promise that the test resolves. */
export function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

export async function listen(fastify: FastifyInstance): Promise<string> {
  return await fastify.listen({ port: 0, host: '127.0.0.1' })
}
