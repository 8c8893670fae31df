import assert from 'node:assert/strict'
import { LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { Fault } from '../../faults/fault.js'
import { handled } from '../handled.js'
import {
  heldLeaseLawsOf,
  type LeaseLaw,
  type LeaseTrial,
  leaseLawsOf,
  openLeaseLawsOf,
  type TrialLease,
} from '../lease-trial.js'

/** Checks that the lease stays held although these faults happen to the next heartbeats. */
function outlives(...faults: Fault[]): (trial: LeaseTrial, held: TrialLease) => Promise<void> {
  return async (trial, held) => {
    for (const fault of faults) held.disturbHeartbeat(fault)
    await trial.pass(2 * trial.ttl)
    assert.equal(held.lease.checkLease(), true)
    assert.deepEqual(held.losses, [])
  }
}

export const leaseRenewalLaws: readonly LeaseLaw[] = [
  ...heldLeaseLawsOf('renewal', [], {
    async 'a lease is held for many ttls without any call'(trial, { lease, losses }) {
      const token = lease.fencingToken
      const other = await trial.open()
      for (let ttls = 0; ttls < (trial.time.isVirtual ? 50 : 3); ttls += 1) {
        await trial.pass(trial.ttl)
        assert.equal(lease.checkLease(), true)
        assert.equal(await trial.during(other.acquire()), false)
      }
      assert.equal(lease.fencingToken, token)
      assert.deepEqual(losses, [])
    },
  }),
  ...heldLeaseLawsOf('renewal', ['store'], {
    'one heartbeat that fails drops no lease': outlives({ kind: 'fail-before' }),
    'a heartbeat that hangs is given up in time, and repeated': outlives({ kind: 'hang' }),
    'a heartbeat whose answer is lost is repeated': outlives({ kind: 'fail-after' }, { kind: 'hang', applied: true }),
    'a heartbeat that arrives twice renews the grant': outlives(
      { kind: 'duplicate' },
      { kind: 'duplicate' },
      { kind: 'duplicate' },
    ),
    async 'an outage shorter than the remaining validity does not end the lease'(trial, held) {
      const other = await trial.open()
      await trial.pass(trial.interval)
      await held.cutOff()
      await trial.pass(trial.ttl / 2)
      assert.equal(held.lease.checkLease(), true)
      await held.heal()
      await trial.pass(trial.ttl)
      assert.equal(held.lease.checkLease(), true)
      assert.equal(await trial.during(other.acquire()), false)
      assert.deepEqual(held.losses, [])
    },
    async 'a failed heartbeat begins jeopardy, which is notified once, and ends recovered'(trial, held) {
      const events: string[] = []
      for (const event of ['jeopardy', 'recovered', 'lost'] as const)
        held.storeLease.on(event, () => events.push(event))
      await held.cutOff()
      await trial.pass(trial.interval + 2 * trial.operationTimeout)
      await held.heal()
      await trial.pass(trial.interval + 2 * trial.operationTimeout)
      assert.equal(events[0], 'jeopardy')
      assert.equal(events.at(-1), 'recovered')
      // Jeopardy and recovery alternate, however many heartbeats fail in between.
      events.forEach((event, place) => {
        assert.notEqual(event, events[place + 1])
      })
      assert.equal(events.includes('lost'), false)
    },
  }),
  ...leaseLawsOf('renewal', ['store'], {
    async 'a claim whose answer is lost is settled: it is held, under one grant'(trial) {
      for (const fault of [{ kind: 'fail-after' }, { kind: 'hang', applied: true }] as const) {
        const { lease, store } = await trial.open({ name: `${trial.name}-${fault.kind}` })
        store.inject(fault, 'acquire')
        assert.equal(await trial.during(lease.acquire({ wait: trial.ttl / 2 })), true)
        assert.equal(lease.checkLease(), true)
        const record = await trial.outside.read(lease.settings.name, new AbortableCall())
        assert.equal(record?.fencingToken, lease.fencingToken)
      }
    },
    async 'a claim succeeds although its first answer is lost'(trial) {
      const { lease, store } = await trial.open()
      store.inject({ kind: 'hang', applied: true }, 'acquire')
      store.inject({ kind: 'hang' }, 'read')
      await assert.rejects(trial.during(lease.acquire()))
      assert.equal(await trial.during(lease.acquire({ wait: trial.ttl / 2 })), true)
    },
    async 'a claim that arrives twice is one grant'(trial) {
      const { lease, store } = await trial.open()
      store.inject({ kind: 'duplicate' }, 'acquire')
      assert.equal(await trial.during(lease.acquire()), true)
      assert.equal(await trial.during(lease.release()), true)
      await trial.openHeld()
    },
  }),
  ...openLeaseLawsOf('limits', ['store'], {
    async 'acquire rejects within the operation timeout when the store hangs'(trial, lease) {
      lease.store.inject({ kind: 'hang' }, 'acquire')
      const begun = lease.clock.now()
      await assert.rejects(trial.during(lease.acquire()), LeaseTimeoutError)
      if (trial.time.isVirtual) assert(lease.clock.now() - begun <= trial.operationTimeout + trial.ttl / 40)
      assert.equal(lease.lease.checkLease(), false)
    },
    async 'acquire rejects with a LeaseError that has the failure of the store as cause'(trial, { lease, store }) {
      const cause = new Error('ECONNREFUSED')
      store.inject({ kind: 'fail-before', error: cause }, 'acquire')
      store.inject({ kind: 'fail-before', error: cause }, 'read')
      const rejected = await trial.during(lease.acquire()).catch((error: unknown) => error)
      assert(rejected instanceof LeaseUnavailableError)
      assert.equal(rejected.cause, cause)
      assert.equal(rejected.leaseName, trial.name)
    },
    async 'the grant of an aborted claim is released soon'(trial, { lease, store }) {
      const controller = new AbortController()
      store.inject({ kind: 'hang', applied: true }, 'acquire')
      const rejected = handled(assert.rejects(lease.acquire({ signal: controller.signal })))
      await trial.pass(trial.interval / 10)
      controller.abort()
      await rejected
      await trial.pass(4 * trial.operationTimeout)
      await trial.openHeld()
    },
    async 'the grant of a claim with an unknown outcome is released soon'(trial, { lease, store }) {
      store.inject({ kind: 'hang', applied: true }, 'acquire')
      await assert.rejects(trial.during(lease.acquire()))
      await trial.pass(4 * trial.operationTimeout)
      await trial.openHeld()
    },
  }),
]
