import assert from 'node:assert/strict'
import { heldLeaseLawsOf, type LeaseLaw, type LeaseTrial, leaseLawsOf, type OpenOptions } from '../lease-trial.js'
import { endsBeforeTheNext } from '../succession.js'

const HOUR = 3_600_000

/** Half of the drift that a lease allows for: the drifts of holder and challenger add up. */
const DRIFT = 0.005

/** A holder is cut off, and taken over by a challenger whose clock differs. */
async function takesOver(trial: LeaseTrial, holder: OpenOptions, challenger: OpenOptions): Promise<void> {
  const held = await trial.openHeld(holder)
  await endsBeforeTheNext(trial, held, () => trial.pass(trial.interval * 1.5), challenger)
  await trial.pass(trial.ttl)
  assert.equal(held.losses.length, 1)
}

export const leaseClockLaws: readonly LeaseLaw[] = [
  ...leaseLawsOf('clocks', ['store', 'virtual-time', 'wait'], {
    'the clock of the holder is slow, that of the challenger fast': (trial) =>
      takesOver(trial, { drift: -DRIFT }, { drift: DRIFT }),
    'the clock of the holder is fast, that of the challenger slow': (trial) =>
      takesOver(trial, { drift: DRIFT }, { drift: -DRIFT }),
    'the wall clock of the challenger is an hour ahead': (trial) => takesOver(trial, { skew: -HOUR }, { skew: HOUR }),
    'the wall clock of the challenger is an hour behind': (trial) => takesOver(trial, { skew: HOUR }, { skew: -HOUR }),
    async 'a stopped holder whose lease was taken over knows it when it continues'(trial) {
      const held = await trial.openHeld()
      const other = await trial.open()
      held.machine.pause()
      assert.equal(await trial.during(other.acquire({ wait: trial.takeover })), true)
      assert.equal(held.lease.checkLease(), false)
      held.machine.resume()
      await trial.pass(trial.ttl)
      assert.equal(held.losses.length, 1)
      assert.equal(other.lease.checkLease(), true)
    },
  }),
  ...heldLeaseLawsOf('clocks', ['store', 'virtual-time'], {
    async 'a step of the wall clock neither ends nor extends a lease'(trial, held) {
      for (const by of [HOUR, -2 * HOUR, HOUR]) {
        held.machine.stepWall(by)
        await trial.pass(trial.interval)
        assert.equal(held.lease.checkLease(), true)
      }
      await held.cutOff()
      held.machine.stepWall(-HOUR)
      await trial.pass(1.1 * trial.ttl)
      assert.equal(held.lease.checkLease(), false)
    },
    async 'after a suspend past the end of validity checkLease is false before any timer has run'(trial, held) {
      held.machine.suspend(2 * trial.ttl)
      assert.equal(held.lease.checkLease(), false)
      await trial.pass(trial.ttl)
      assert.deepEqual(held.reasons, ['suspended'])
    },
    async 'after a blocked event loop checkLease is false before any timer has run'(trial, held) {
      held.machine.block(2 * trial.ttl)
      assert.equal(held.lease.checkLease(), false)
      await trial.pass(trial.ttl)
      assert.equal(held.losses.length, 1)
      assert.equal(held.lease.checkLease(), false)
    },
    async 'a short pause does not end a lease'(trial, held) {
      held.machine.pause()
      await trial.pass(trial.ttl / 2)
      held.machine.resume()
      await trial.pass(trial.ttl)
      assert.equal(held.lease.checkLease(), true)
      assert.deepEqual(held.losses, [])
    },
  }),
]
