import assert from 'node:assert/strict'
import { LeaseConflictError, LeaseLostError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { handled } from '../handled.js'
import {
  heldLeaseLawsOf,
  type LeaseLaw,
  type LeaseTrial,
  leaseLawsOf,
  type OpenOptions,
  type TrialLease,
} from '../lease-trial.js'

/** The options of a lease on another name, under this one. */
function under(trial: LeaseTrial, parent: TrialLease, ttl = trial.ttl): OpenOptions {
  return { name: `${trial.name}-child`, owner: 'family', parent, ttl }
}

/** Whether the name of the child is locked in the store. */
async function isChildLocked(trial: LeaseTrial): Promise<boolean> {
  const record = await trial.outside.read(`${trial.name}-child`, new AbortableCall())
  return record?.state === 'leased'
}

export const leaseParentLaws: readonly LeaseLaw[] = [
  ...heldLeaseLawsOf('parents', ['store'], {
    async 'a child is held as long as its parent'(trial, parent) {
      const child = await trial.openHeld(under(trial, parent))
      await trial.pass(2 * trial.ttl)
      assert.equal(child.lease.checkLease(), true)
      // Real time passes between the two looks.
      const { remaining } = parent.storeLease
      assert(child.storeLease.remaining <= remaining)
      assert.deepEqual(child.losses, [])
    },
    async 'a child is valid at no instant without its parent'(trial, parent) {
      const child = await trial.openHeld(under(trial, parent))
      await parent.cutOff()
      for (let step = 0; step < 40; step += 1) {
        await trial.pass(trial.ttl / 20)
        // The parent first: real time passes between the two looks.
        const isCovered = parent.lease.checkLease()
        assert(isCovered || !child.lease.checkLease(), 'a child is valid only while its parent is')
      }
      assert.equal(child.lease.checkLease(), false)
      assert.deepEqual(child.reasons, ['parent-lost'])
      assert.equal(child.losses.length, 1)
    },
    async 'a child is notified of the loss of its parent before the parent is'(trial, parent) {
      const child = await trial.openHeld(under(trial, parent))
      const seen: unknown[] = []
      await trial.during(parent.lease.acquire({ onLost: () => seen.push(...child.reasons, child.lease.checkLease()) }))
      await parent.cutOff()
      await trial.pass(2 * trial.ttl)
      assert.deepEqual(seen, ['parent-lost', false])
    },
    async 'a child of an earlier grant is not valid when its parent is acquired again'(trial, parent) {
      const child = await trial.openHeld(under(trial, parent, 4 * trial.ttl))
      await parent.cutOff()
      await trial.pass(2 * trial.ttl)
      await parent.heal()
      assert.equal(await trial.during(parent.acquire({ wait: trial.takeover })), true)
      assert.equal(child.lease.checkLease(), false)
      assert.equal(await trial.during(child.acquire({ wait: trial.takeover })), true)
    },
    async 'a release of the parent does not wait for a child whose store does not answer'(trial, parent) {
      const child = await trial.openHeld(under(trial, parent))
      await child.cutOff()
      const released = parent.lease.release()
      assert.equal(child.lease.checkLease(), false)
      assert.equal(await trial.during(released), true)
      assert.equal(child.lease.checkLease(), false)
    },
  }),
  ...leaseLawsOf('parents', ['store'], {
    async 'a child is not acquired while its parent is not held'(trial) {
      const child = await trial.open(under(trial, await trial.open()))
      await assert.rejects(trial.during(child.acquire()), LeaseConflictError)
      assert.equal(await isChildLocked(trial), false)
    },
  }),
  ...heldLeaseLawsOf('parents', ['store', 'virtual-time'], {
    async 'a grant that arrives after the end of the parent does not count, and is given back'(trial, parent) {
      const child = await trial.open(under(trial, parent))
      child.store.inject({ kind: 'answer-late', duration: trial.operationTimeout / 2 }, 'acquire')
      const acquired = child.acquire()
      const rejected = handled(assert.rejects(acquired, LeaseLostError))
      await trial.pass(trial.operationTimeout / 10)
      await trial.during(parent.storeLease.close())
      await trial.during(rejected)
      await trial.pass(3 * trial.operationTimeout)
      assert.equal(child.lease.checkLease(), false)
      assert.equal(await isChildLocked(trial), false)
    },
    async 'a release of the parent waits for the releases of its children'(trial, parent) {
      const child = await trial.openHeld(under(trial, parent))
      let isLockedAtRelease: Promise<boolean> | undefined
      parent.storeLease.on('released', () => {
        isLockedAtRelease = isChildLocked(trial)
      })
      child.store.inject({ kind: 'delay', duration: trial.operationTimeout / 2 }, 'release')
      const released = parent.lease.release()
      assert.equal(parent.lease.checkLease(), false)
      assert.equal(child.lease.checkLease(), false)
      await trial.pass(trial.operationTimeout / 4)
      const other = await trial.open()
      assert.equal(await trial.during(other.acquire()), false, 'the parent should not be free before its child is')
      assert.equal(await trial.during(released), true)
      await trial.pass(trial.interval)
      assert.equal(await isLockedAtRelease, false)
      assert.deepEqual(child.losses, [])
    },
    async 'after a pause in which its parent expired a child is not valid, before any timer has run'(trial, parent) {
      const child = await trial.openHeld(under(trial, parent, 8 * trial.ttl))
      parent.machine.pause('stopped')
      await trial.pass(2 * trial.ttl)
      assert.equal(child.lease.checkLease(), false)
      assert.equal(child.storeLease.remaining, 0)
      parent.machine.resume()
    },
  }),
]
