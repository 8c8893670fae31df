import assert from 'node:assert/strict'
import { grantedStoreLawsOf, type StoreLaw, storeLawsOf } from '../store-trial.js'

export const storeExpiryLaws: readonly StoreLaw[] = [
  ...storeLawsOf('expiry', [], {
    async 'no request is granted before the ttl is over'(trial, one, other) {
      const begun = trial.clock.now()
      await trial.granted(one)
      for (const part of [0, 0.5, 0.4]) {
        await trial.pass(trial.ttl * part)
        const { granted } = await trial.acquire(other)
        // On a machine that is busy, real time may have gone on for longer.
        if (!granted) continue
        const passed = trial.clock.now() - begun
        assert(passed >= trial.ttl, `granted ${Math.round(passed)} ms after the request of the holder`)
        return
      }
    },
  }),
  ...grantedStoreLawsOf('expiry', [], {
    async 'a request after the ttl is granted, with a larger token'(trial, grant, _, other) {
      await trial.expire(other)
      const successor = await trial.granted(other)
      assert(successor.fencingToken > grant.fencingToken)
    },
    async 'a lease that is renewed does not expire'(trial, grant, one, other) {
      for (let renewals = 0; renewals < 4; renewals += 1) {
        await trial.pass(trial.ttl * 0.6)
        assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
        await trial.refused(other)
      }
    },
    async 'the record of an expired lease is marked as expired'(trial, { fencingToken }, client) {
      await trial.expire(client)
      const record = await trial.read(client)
      assert(record !== undefined, 'the record is gone, and its fencing token with it')
      assert.equal(record.state, 'expired')
      assert.equal(record.fencingToken, fencingToken)
    },
    async 'a challenger that was refused many times is granted the name of a silent holder'(
      trial,
      _grant,
      _holder,
      other,
    ) {
      let outcome = await trial.acquire(other, { grantId: trial.guid('patient') })
      for (let asked = 0; asked < 14 && !outcome.granted; asked += 1) {
        await trial.pass(trial.longest / 10)
        outcome = await trial.acquire(other, { grantId: trial.guid('patient') })
      }
      assert(outcome.granted, 'still refused after 1.4 ttls')
    },
  }),
  ...grantedStoreLawsOf('expiry', ['clients'], {
    async 'a client that has just connected does not take over a held name'(trial, grant, one) {
      await trial.pass(trial.ttl * 0.6)
      const renewedAt = trial.clock.now()
      assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
      await trial.pass(trial.ttl * 0.9)
      const { granted } = await trial.acquire(await trial.open())
      // On a machine that is busy, real time may have gone on for longer.
      const passed = trial.clock.now() - renewedAt
      assert(!granted || passed >= trial.ttl, `granted ${Math.round(passed)} ms after a heartbeat of the holder`)
    },
  }),
  ...storeLawsOf('process death', ['processes'], {
    async 'the lease of a killed process stays held until its ttl is over'(trial, client) {
      const holder = await trial.holdElsewhere()
      await holder.kill()
      // The name must be locked at once: the process may have sent its last heartbeat a moment ago.
      await trial.refused(client)
    },
    async 'the lease of a killed process is taken over after its ttl, with a larger token'(trial, client) {
      const holder = await trial.holdElsewhere()
      await holder.kill()
      await trial.expire(client)
      const { fencingToken } = await trial.granted(client)
      assert(fencingToken > holder.fencingToken)
    },
  }),
]
