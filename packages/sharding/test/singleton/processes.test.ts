import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { eventually } from '@leasehold/testing/eventually'
import { Fleet, violations } from '@leasehold/testing/fleet'
import { RedisServer } from '@leasehold/testing/redis-server'
import { expect, it, onTestFinished } from 'vitest'
import type { SingletonTask } from '../programs/singleton-member.js'

/** `ROUNDS=100 npm test -- packages/sharding/test/singleton` for a long run. */
const ROUNDS = Number(process.env.ROUNDS ?? 1)

const TTL = 3_000

/** How long a process is stopped, in milliseconds: its lease ends meanwhile. */
const FREEZE = 4_000

const entry = fileURLToPath(new URL('../programs/singleton-member.ts', import.meta.url))

describeRedis('a singleton of three processes, on Redis', () => {
  const timeout = 60_000 + ROUNDS * 60_000
  it('gives each number once, in order, while its processes are killed and stopped', { timeout }, async () => {
    const server = await RedisServer.start()
    onTestFinished(() => server.stop())
    const fleet = await Fleet.create<SingletonTask>(temporaryFolder(), entry)
    onTestFinished(() => fleet.stop())
    let count = 0
    const add = async (): Promise<void> => {
      count += 1
      await fleet.start({ owner: `process-${count}`, port: server.port, ttl: TTL })
    }
    /** The process that handled the last event. */
    const host = (): string => fleet.holdings.filter(({ name }) => name === 'actor').at(-1)?.owner ?? ''
    const isAnotherThan = async (last: string): Promise<void> => {
      await eventually(`another process than '${last}' runs the actor`, async () => host() !== last)
    }
    await Promise.all([add(), add(), add()])
    await isAnotherThan('')
    for (let round = 1; round <= ROUNDS; round += 1) {
      const killed = host()
      await fleet.kill(killed)
      await isAnotherThan(killed)
      const frozen = host()
      fleet.freeze(frozen)
      await sleep(FREEZE)
      await isAnotherThan(frozen)
      fleet.thaw(frozen)
      const stopped = host()
      await fleet.kill(stopped, 'SIGTERM')
      await isAnotherThan(stopped)
      await Promise.all([add(), add()])
    }
    await fleet.stop()
    const numbers = fleet.holdings.filter(({ name }) => name === 'numbers')
    expect(violations(numbers)).toEqual([])
    expect(numbers.length).toBeGreaterThan(ROUNDS)
  })
})
