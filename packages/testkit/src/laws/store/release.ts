import assert from 'node:assert/strict'
import { law, lawFor } from '../law.js'
import type { StoreLaw } from '../store-trial.js'

export const storeReleaseLaws: readonly StoreLaw[] = [
  law('release', 'frees the name at once, for all clients', async (trial) => {
    const [one, other] = [await trial.open(), await trial.open()]
    const grant = await trial.granted(one)
    await trial.refused(other)
    assert.deepEqual(await one.release(grant, trial.call), { released: true })
    await trial.granted(other)
  }),
  law('release', 'of a grant with a successor frees nothing, and returns the holder', async (trial) => {
    const [one, other] = [await trial.open(), await trial.open()]
    const grant = await trial.granted(one)
    await trial.expire(other)
    const successor = await trial.granted(other, { owner: 'successor' })
    const outcome = await one.release(grant, trial.call)
    assert(!outcome.released, 'released, though the grant was not in force')
    assert.equal(outcome.holder?.owner, 'successor')
    assert.deepEqual(await other.renew(successor, trial.call), { renewed: true })
    await trial.refused(await trial.open())
  }),
  law('release', 'under another grant id frees nothing', async (trial) => {
    const client = await trial.open()
    const grant = await trial.granted(client)
    assert.equal((await client.release({ ...grant, grantId: trial.guid('forged') }, trial.call)).released, false)
    assert.deepEqual(await client.renew(grant, trial.call), { renewed: true })
  }),
  law(
    'release',
    'called twice frees nothing the second time, even if a later holder came in between',
    async (trial) => {
      const [one, other] = [await trial.open(), await trial.open()]
      const grant = await trial.granted(one)
      await one.release(grant, trial.call)
      const successor = await trial.granted(other)
      assert.equal((await one.release(grant, trial.call)).released, false)
      assert.deepEqual(await other.renew(successor, trial.call), { renewed: true })
    },
  ),
  law('release', 'of a name without a record is no error, and creates no record', async (trial) => {
    const client = await trial.open()
    const grant = {
      name: trial.name,
      owner: 'absent',
      grantId: trial.guid('unknown'),
      fencingToken: 1n,
      ttl: trial.ttl,
    }
    const outcome = await client.release(grant, trial.call)
    assert.deepEqual(outcome, { released: false })
    assert.equal(await trial.read(client), undefined)
  }),
  law('release', 'of an expired grant without a successor leaves the name free', async (trial) => {
    const client = await trial.open()
    const grant = await trial.granted(client)
    await trial.expire(client)
    await client.release(grant, trial.call)
    await trial.granted(client)
  }),
  law('release', 'leaves a record without a holder, or no record', async (trial) => {
    const client = await trial.open()
    const grant = await trial.granted(client)
    await client.release(grant, trial.call)
    const record = await trial.read(client)
    assert(record === undefined || record.state === 'available', `the state is ${record?.state}`)
  }),
  lawFor(['deletion'], 'release', 'of a grant whose record was deleted is no error', async (trial) => {
    const client = await trial.open()
    const grant = await trial.granted(client)
    await trial.delete()
    assert.deepEqual(await client.release(grant, trial.call), { released: false })
  }),
]
