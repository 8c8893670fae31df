import assert from 'node:assert/strict'
import { type LeaseLaw, leaseLawsOf } from '../lease-trial.js'

export const leaseByHandLaws: readonly LeaseLaw[] = [
  ...leaseLawsOf('renewal', ['store'], {
    async 'a lease with the manual strategy is not renewed by itself, and its validity ends as expired'(trial) {
      const held = await trial.openHeld({ strategy: 'manual' })
      await trial.pass(trial.ttl / 2)
      assert.equal(held.lease.checkLease(), true)
      await trial.pass(trial.ttl * 0.6)
      assert.equal(held.lease.checkLease(), false)
      assert.deepEqual(held.reasons, ['expired'])
      await trial.pass(trial.ttl / 10)
      await trial.openHeld()
    },
    async 'renewing by hand keeps a lease with the manual strategy held'(trial) {
      const held = await trial.openHeld({ strategy: 'manual' })
      const other = await trial.open()
      for (let activity = 0; activity < 4; activity += 1) {
        await trial.pass(trial.ttl / 2)
        const both = Promise.all([held.storeLease.renew(), held.storeLease.renew()])
        assert.deepEqual(await trial.during(both), [true, true])
        assert.equal(await trial.during(other.acquire()), false)
      }
      assert.deepEqual(held.losses, [])
    },
    async 'renewing by hand a lease that another owner holds resolves false, after the loss'(trial) {
      const held = await trial.openHeld({ strategy: 'manual' })
      await trial.pass(trial.ttl * 1.1)
      assert.equal(await trial.during(held.storeLease.renew()), false)
      assert.deepEqual(held.reasons, ['expired'])
    },
    async 'a renewal by hand that hangs rejects, and the lease stays held while it is valid'(trial) {
      const held = await trial.openHeld({ strategy: 'manual' })
      held.disturbHeartbeat({ kind: 'hang' })
      await assert.rejects(trial.during(held.storeLease.renew()), { code: 'timeout' })
      assert.equal(held.lease.checkLease(), true)
      assert.equal(await trial.during(held.storeLease.renew()), true)
      assert.deepEqual(held.losses, [])
    },
    async 'a lease that is renewed at a part of its ttl stays held'(trial) {
      const held = await trial.openHeld({ strategy: { renewAt: 0.3 } })
      await trial.pass(2 * trial.ttl)
      assert.equal(held.lease.checkLease(), true)
      assert.deepEqual(held.losses, [])
    },
  }),
]
