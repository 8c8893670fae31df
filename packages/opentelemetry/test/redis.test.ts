import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { instrumentLeases } from '../src/index.js'
import { Telemetry } from './support/telemetry.js'

const PROGRAM = fileURLToPath(new URL('./programs/term.ts', import.meta.url))

/** A holder in a process of its own, and the lines that it prints. */
class Holder {
  readonly #process: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(port: number, owner: string) {
    const options = ['--import', 'tsx', '--conditions', '@leasehold/source', PROGRAM, String(port), owner]
    this.#process = spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'], timeout: 60_000 })
    onTestFinished(() => void this.#process.kill('SIGKILL'))
    if (this.#process.stdout === null) throw new Error('it has no output')
    this.#lines = createInterface(this.#process.stdout)[Symbol.asyncIterator]()
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error('it has exited')
    return value
  }

  stop(): void {
    this.#process.kill('SIGSTOP')
  }

  continue(): void {
    this.#process.kill('SIGCONT')
  }

  /** Lets it release the lease. */
  async end(): Promise<void> {
    this.#process.stdin?.end()
    if (this.#process.exitCode === null) await once(this.#process, 'exit')
  }
}

describeRedis('on a real Redis', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await RedisServer.start()
  })
  afterAll(() => server.stop())

  it('a fail-over from a process that was stopped gives terms that are linked', async () => {
    const [first, second] = [new Holder(server.port, 'first'), new Holder(server.port, 'second')]
    const held = [first, second].map(async (holder) => {
      expect(await holder.line()).toBe('held')
      return holder
    })
    const before = await Promise.race(held)
    before.stop()
    await Promise.all(held)
    const after = before === first ? second : first
    before.continue()
    const lost = JSON.parse(await before.line())
    const end = after.end()
    const taken = JSON.parse(await after.line())
    await end
    expect(lost).toMatchObject({ attributes: { end: 'lost' } })
    expect(lost.events.at(-1)).toBe('lost')
    expect(taken).toMatchObject({ attributes: { end: 'released' }, events: [] })
    expect(taken.links).toMatchObject([{ traceId: lost.traceId, spanId: lost.spanId }])
    const token = 'lease.fencing_token'
    expect(BigInt(taken.attributes[token])).toBeGreaterThan(BigInt(lost.attributes[token]))
  })

  it('the metrics name the store, and heartbeats of many leases are one operation', async () => {
    const telemetry = new Telemetry()
    const { meterProvider, tracerProvider } = telemetry
    const instrumentation = instrumentLeases({ meterProvider, tracerProvider })
    const redis = new Redis({ port: server.port })
    const store = new RedisLeaseStore(redis)
    onTestFinished(async () => {
      instrumentation.disable()
      await store.close()
      redis.disconnect()
      await telemetry.shutdown()
    })
    const times = { heartbeatTimeout: 3_000, heartbeatInterval: 600, operationTimeout: 600 }
    const leases = Array.from({ length: 100 }, (_, index) => createLease(store, `batch-${index}`, times))
    expect(await Promise.all(leases.map((lease) => lease.acquire()))).not.toContain(false)
    const group = { store: 'redis', 'lease.group': 'batch-*' }
    expect(await telemetry.series('leasehold.lease.held')).toEqual([{ ...group, value: 100 }])
    const renewed = async () => (await telemetry.series('leasehold.renewal.margin'))[0]?.value ?? 0
    await expect.poll(renewed, { timeout: 20_000 }).toBeGreaterThanOrEqual(100)
    const requests = (await telemetry.series('leasehold.renewal.duration')).reduce((sum, { value }) => sum + value, 0)
    expect(requests).toBeLessThan(await renewed())
    await Promise.all(leases.map((lease) => lease.release()))
    expect(await telemetry.series('leasehold.lease.held')).toEqual([{ ...group, value: 0 }])
    expect(await telemetry.series('leasehold.acquire.duration')).toMatchObject([
      { ...group, outcome: 'granted', value: 100 },
    ])
  })
})
