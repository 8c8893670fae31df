import { setTimeout as sleep } from 'node:timers/promises'
import { breakLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describePrometheus } from '@leasehold/testing/describe-prometheus'
import { PrometheusServer } from '@leasehold/testing/prometheus-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import { TcpProxy } from '@leasehold/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rules } from '../support/deploy-files.js'
import { type Member, type MemberPart, startMember } from './fleet-member.js'

/** Of all leases but the slow one, in milliseconds. */
const TIMES = { heartbeatTimeout: 3_000, heartbeatInterval: 300, operationTimeout: 1_000 }

/** Of leases that must outlive a block of the event loop. */
const LONG = { heartbeatTimeout: 20_000, heartbeatInterval: 2_000, operationTimeout: 5_000 }

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
    const [, , ...others] = await Promise.all([
      member(
        'waiter',
        part('hold', 'import', { port: cutOff.port }),
        part('hold', 'slow', { port: slow.port, times: SLOW }),
      ),
      member('sleeper', part('hold', 'nightly'), part('schedule', 'report')),
      member(
        'left',
        part('hold', 'gate'),
        part('hold', 'ledger', { prefix: 'blue' }),
        part('partitions', 'orders', { count: 4 }),
      ),
      member('right', part('hold', 'stalled', { times: LONG })),
    ])
    ;[sleeper, right] = others as [Member, Member]
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

  /** The alert fires under the fault and no earlier, and clears when the fault is over. */
  const seen = async (
    isFiring: IsFiring,
    fault: () => Promise<unknown>,
    repair: () => Promise<unknown>,
  ): Promise<void> => {
    expect(await isFiring()).toBe(false)
    await fault()
    await eventually('it fires', isFiring)
    await repair()
    await eventually('it clears', async () => !(await isFiring()))
  }

  const nothing = async (): Promise<void> => {}

  describe.concurrent('sees', () => {
    it('that nobody holds a lease or leads, after the holder was killed and no other process reaches the store', async () => {
      const isHeld = alert('LeaseholdNobodyHolds', { lease_group: 'import' })
      const isLed = alert('LeaseholdNoLeader', { election: 'billing' })
      const both: IsFiring = async () => (await isHeld()) && (await isLed())
      await seen(
        both,
        async () => {
          cutOff.blackHole()
          await holder.kill()
        },
        async () => {
          cutOff.heal()
          await member('successor', part('lead', 'billing'))
        },
      )
      await eventually('both clear', async () => !(await isHeld()) && !(await isLed()))
    })

    it('two holders, one of which uses another store by mistake', async () => {
      await seen(
        alert('LeaseholdTwoHolders', { lease_group: 'ledger' }),
        () => right.start(part('hold', 'ledger', { prefix: 'green', times: LONG })),
        () => right.stop('ledger'),
      )
    })

    it('a lease that was lost, and a tick that was missed, while the process was suspended', async () => {
      const isLost = alert('LeaseholdLost', { lease_group: 'nightly' })
      const isMissed = alert('LeaseholdScheduleMissed', { schedule: 'report' })
      const fired = new Set<string>()
      // Each fires for six seconds.
      const both: IsFiring = async () => {
        if (await isLost()) fired.add('lost')
        if (await isMissed()) fired.add('missed')
        return fired.size === 2
      }
      await seen(
        both,
        async () => {
          sleeper.freeze()
          await sleep(5_000)
          sleeper.thaw()
        },
        async () => fired.clear(),
      )
      await eventually('both clear', async () => !(await isLost()) && !(await isMissed()))
    })

    it('a slow store, and heartbeats with a small margin', async () => {
      const isSlow = alert('LeaseholdStoreSlow', { store: 'redis', operation: 'renewMany' })
      const isClose = alert('LeaseholdMarginLow', { lease_group: 'slow' })
      const both: IsFiring = async () => (await isSlow()) && (await isClose())
      await seen(
        both,
        async () => slow.slowDown(DELAY),
        async () => slow.heal(),
      )
      await eventually('both clear', async () => !(await isSlow()) && !(await isClose()))
    })

    it('many callers that wait for one lease', async () => {
      await seen(
        alert('LeaseholdQueueLong', { lease_group: 'gate', instance: 'right' }),
        () => right.start(part('queue', 'gate', { count: 12, times: LONG })),
        () => right.stop('gate'),
      )
    })

    it('partitions that nobody can own', async () => {
      await seen(
        alert('LeaseholdPartitionsUnowned', { group: 'orders' }),
        // The name stays locked for this long.
        () => breakLease(store, 'orders/partitions/1', { period: 8_000 }),
        nothing,
      )
    })

    it('an event loop that stands still', async () => {
      await seen(alert('LeaseholdEventLoopStalled', { instance: 'right' }), () => right.block(2_500), nothing)
    })
  })
})
