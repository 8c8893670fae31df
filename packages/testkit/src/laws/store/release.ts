import assert from 'node:assert/strict'
import { law, lawFor } from '../law.js'
import type { StoreLaw } from '../store-trial.js'

export const storeReleaseLaws: readonly StoreLaw[] = [
  law('release', 'frees the name at once, for everybody', async (trial) => {
    const [one, other] = [await trial.open(), await trial.open()]
    const grant = await trial.granted(one)
    await trial.refused(other)
    assert.deepEqual(await one.release(grant, trial.call), { released: true })
    await trial.granted(other)
  }),
  law('release', 'of somebody who was succeeded frees nothing, and tells who holds the name', async (trial) => {
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
  law('release', 'asked twice frees nothing the second time, nor whoever came in between', async (trial) => {
    const [one, other] = [await trial.open(), await trial.open()]
    const grant = await trial.granted(one)
    await one.release(grant, trial.call)
    const successor = await trial.granted(other)
    assert.equal((await one.release(grant, trial.call)).released, false)
    assert.deepEqual(await other.renew(successor, trial.call), { renewed: true })
  }),
  law('release', 'of a name that nobody ever held is no error, and makes no record', async (trial) => {
    const client = await trial.open()
    const grant = {
      name: trial.name,
      owner: 'nobody',
      grantId: trial.guid('unknown'),
      fencingToken: 1n,
      ttl: trial.ttl,
    }
    const outcome = await client.release(grant, trial.call)
    assert.deepEqual(outcome, { released: false })
    assert.equal(await trial.read(client), undefined)
  }),
  law('release', 'of an expired grant that nobody has taken over leaves the name free', async (trial) => {
    const client = await trial.open()
    const grant = await trial.granted(client)
    await trial.expire(client)
    await client.release(grant, trial.call)
    await trial.granted(client)
  }),
  law('release', 'leaves a record that nobody holds, or none', async (trial) => {
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
