import assert from 'node:assert/strict'
import { grantedStoreLawsOf, type StoreLaw, storeLawsOf } from '../store-trial.js'

export const storeReleaseLaws: readonly StoreLaw[] = [
  ...grantedStoreLawsOf('release', [], {
    async 'frees the name at once, for all clients'(trial, grant, one, other) {
      await trial.refused(other)
      assert.deepEqual(await one.release(grant, trial.call), { released: true })
      await trial.granted(other)
    },
    async 'of a grant with a successor frees nothing, and returns the holder'(trial, grant, one, other) {
      await trial.expire(other)
      const successor = await trial.granted(other, { owner: 'successor' })
      const outcome = await one.release(grant, trial.call)
      assert(!outcome.released, 'released, though the grant was not in force')
      assert.equal(outcome.holder?.owner, 'successor')
      assert.deepEqual(await other.renew(successor, trial.call), { renewed: true })
      await trial.refused(await trial.open())
    },
    async 'under another grant id frees nothing'(trial, grant, client) {
      assert.equal((await client.release({ ...grant, grantId: trial.guid('forged') }, trial.call)).released, false)
      assert.deepEqual(await client.renew(grant, trial.call), { renewed: true })
    },
    async 'called twice frees nothing the second time, even if a later holder came in between'(
      trial,
      grant,
      one,
      other,
    ) {
      await one.release(grant, trial.call)
      const successor = await trial.granted(other)
      assert.equal((await one.release(grant, trial.call)).released, false)
      assert.deepEqual(await other.renew(successor, trial.call), { renewed: true })
    },
    async 'of an expired grant without a successor leaves the name free'(trial, grant, client) {
      await trial.expire(client)
      await client.release(grant, trial.call)
      await trial.granted(client)
    },
    async 'leaves a record without a holder, or no record'(trial, grant, client) {
      await client.release(grant, trial.call)
      const record = await trial.read(client)
      assert(record === undefined || record.state === 'available', `the state is ${record?.state}`)
    },
  }),
  ...storeLawsOf('release', [], {
    async 'of a name without a record is no error, and creates no record'(trial, client) {
      const { name, ttl } = trial
      const grant = { name, owner: 'absent', grantId: trial.guid('unknown'), fencingToken: 1n, ttl }
      const outcome = await client.release(grant, trial.call)
      assert.deepEqual(outcome, { released: false })
      assert.equal(await trial.read(client), undefined)
    },
  }),
  ...grantedStoreLawsOf('release', ['deletion'], {
    async 'of a grant whose record was deleted is no error'(trial, grant, client) {
      await trial.delete()
      assert.deepEqual(await client.release(grant, trial.call), { released: false })
    },
  }),
]
