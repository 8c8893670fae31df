import { setTimeout as sleep } from 'node:timers/promises'
import { breakLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describePrometheus } from '@leasehold/testing/describe-prometheus'
import { PrometheusServer } from '@leasehold/testing/prometheus-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import { TcpProxy } from '@leasehold/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { rules } from '../support/deploy-files.js'
import { type Member, type MemberPart, startMember } from './fleet-member.js'

/** Of all leases but the slow one, in milliseconds. */
const TIMES = { heartbeatTimeout: 3_000, heartbeatInterval: 300, operationTimeout: 1_000 }

/** Of leases that must outlive a block of the event loop. */
const LONG = { heartbeatTimeout: 20_000, heartbeatInterval: 2_000, operationTimeout: 5_000 }

/**
 * For two faults. A broken partition stays without an owner for up to a ttl, and its owner notices the break soon. A lease
 * survives the block of its process, in which a heartbeat comes late.
 */
const PATIENT = { heartbeatTimeout: 20_000, heartbeatInterval: 500, operationTimeout: 2_000 }

/** Of the schedule: its instance misses a tick that it comes to later than a ttl. */
const EVERY = 6_000

/** Of the lease on the slow store: an answer that takes 2.2 s leaves a quarter of the ttl. */
const SLOW = { heartbeatTimeout: 6_000, heartbeatInterval: 900, operationTimeout: 2_900 }
const DELAY = 2_200

/** The rules for ttls of seconds instead of minutes: each text, and its replacement. */
const SHORTER: readonly (readonly [RegExp, string])[] = [
  [/\[5m\]/g, '[6s]'],
  [/offset 5m/g, 'offset 6s'],
  [/for: 2m/g, 'for: 4s'],
  [/for: (?:1|3|5|10)m/g, 'for: 2s'],
  [/> 2\.5$/gm, '> 1.45'],
  [/le=~"10\(\[\.\]0\)\?"/g, 'le="0.75"'],
]

function shorter(text: string): string {
  return SHORTER.reduce((before, [found, replacement]) => {
    const after = before.replaceAll(found, replacement)
    if (after === before) throw new Error(`the rules have no ${found}`)
    return after
  }, text)
}

/** Whether this alert fires now. */
type IsFiring = () => Promise<boolean>

describePrometheus('a Prometheus that scrapes a fleet', () => {
  const ends: (() => Promise<unknown>)[] = []
  let redis: RedisServer
  let prometheus: PrometheusServer
  let cutOff: TcpProxy
  let slow: TcpProxy
  let store: RedisLeaseStore
  let holder: Member
  let sleeper: Member
  let right: Member

  const part = (kind: MemberPart['kind'], name: string, more: Partial<MemberPart> = {}): MemberPart => ({
    kind,
    name,
    port: redis.port,
    times: TIMES,
    ...more,
  })

  const member = async (instance: string, ...parts: readonly MemberPart[]): Promise<Member> => {
    const started = await startMember(prometheus, instance, ...parts)
    ends.push(() => started.kill())
    return started
  }

  beforeAll(async () => {
    redis = await RedisServer.start()
    ends.push(() => redis.stop())
    prometheus = await PrometheusServer.start({ rules: shorter(rules), interval: '500ms' })
    ends.push(() => prometheus.stop())
    cutOff = await TcpProxy.to(redis.port)
    slow = await TcpProxy.to(redis.port)
    ends.push(
      () => cutOff.close(),
      () => slow.close(),
    )
    const client = new Redis({ port: redis.port, host: '127.0.0.1' })
    store = new RedisLeaseStore(client, { prefix: 'fleet:' })
    ends.push(
      async () => client.disconnect(),
      () => store.close(),
    )

    holder = await member('holder', part('hold', 'import'), part('lead', 'billing'))
    ;[, sleeper, , right] = await Promise.all([
      member(
        'waiter',
        part('hold', 'import', { port: cutOff.port }),
        part('hold', 'slow', { port: slow.port, times: SLOW }),
      ),
      member('sleeper', part('hold', 'nightly'), part('schedule', 'report', { every: EVERY })),
      member(
        'left',
        part('hold', 'gate'),
        part('hold', 'ledger', { prefix: 'blue' }),
        part('partitions', 'orders', { count: 4, times: PATIENT }),
      ),
      member('right', part('hold', 'stalled', { times: PATIENT })),
    ])
    await eventually('all processes are scraped', async () => {
      const held = await prometheus.query('count by (lease_group) (leasehold_lease_held == 1)')
      return held.length >= 6
    })
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  const alert =
    (alertname: string, labels: Readonly<Record<string, string>>): IsFiring =>
    async () => {
      await sleep(200)
      const wanted = Object.entries({ alertname, ...labels })
      const alerts = await prometheus.alerts()
      return alerts.some(
        ({ state, labels: found }) => state === 'firing' && wanted.every(([key, value]) => found[key] === value),
      )
    }

  /** The alerts fire under the fault and no earlier, and clear when the fault is over. */
  const seen = async (
    alerts: readonly IsFiring[],
    fault: () => Promise<unknown>,
    repair: () => Promise<unknown> = async () => {},
  ): Promise<void> => {
    const silence = () =>
      Promise.all(alerts.map((isFiring) => eventually('it is silent', async () => !(await isFiring()))))
    // A busy machine may stall a process while it starts.
    await silence()
    await fault()
    await Promise.all(alerts.map((isFiring, place) => eventually(`alert ${place} fires`, isFiring)))
    await repair()
    await silence()
  }

  describe.concurrent('sees', () => {
    it('that nobody holds a lease or leads, after the holder was killed and no other process reaches the store', async () => {
      await seen(
        [alert('LeaseholdNobodyHolds', { lease_group: 'import' }), alert('LeaseholdNoLeader', { election: 'billing' })],
        async () => {
          cutOff.blackHole()
          await holder.kill()
        },
        async () => {
          cutOff.heal()
          await member('successor', part('lead', 'billing'))
        },
      )
    })

    it('two holders, one of which uses another store by mistake', async () => {
      await seen(
        [alert('LeaseholdTwoHolders', { lease_group: 'ledger' })],
        () => right.start(part('hold', 'ledger', { prefix: 'green', times: LONG })),
        () => right.stop('ledger'),
      )
    })

    it('a lease that was lost, and a tick that was missed, while the process was suspended', async () => {
      await seen(
        [alert('LeaseholdLost', { lease_group: 'nightly' }), alert('LeaseholdScheduleMissed', { schedule: 'report' })],
        async () => {
          const ticks = async () =>
            (await prometheus.query('leasehold_schedule_runs_total{outcome="done"}'))[0]?.value ?? 0
          const before = await ticks()
          await eventually('a tick is run', async () => {
            await sleep(100)
            return (await ticks()) > before
          })
          // It comes to the next tick later than a ttl, and before the tick after that.
          sleeper.freeze()
          await sleep(EVERY + TIMES.heartbeatTimeout + 700)
          sleeper.thaw()
        },
      )
    })

    it('a slow store, and heartbeats with a small margin', async () => {
      await seen(
        [alert('LeaseholdStoreSlow', { store: 'redis' }), alert('LeaseholdMarginLow', { lease_group: 'slow' })],
        async () => slow.slowDown(DELAY),
        async () => slow.heal(),
      )
    })

    it('many callers that wait for one lease', async () => {
      await seen(
        [alert('LeaseholdQueueLong', { lease_group: 'gate', instance: 'right' })],
        () => right.start(part('queue', 'gate', { count: 12, times: LONG })),
        () => right.stop('gate'),
      )
    })

    it('partitions that nobody can own', async () => {
      await seen(
        [alert('LeaseholdPartitionsUnowned', { group: 'orders' })],
        // The name stays locked for this long, and is free then.
        () => breakLease(store, 'orders/partitions/1', { period: 8_000 }),
      )
    })

    it('an event loop that stands still', async () => {
      await seen([alert('LeaseholdEventLoopStalled', { instance: 'right' })], () => right.block(2_500))
    })
  })
})
