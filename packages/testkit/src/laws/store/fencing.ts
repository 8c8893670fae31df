import assert from 'node:assert/strict'
import type { LeaseStore } from '@leasehold/core'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'
import { changed } from './change.js'

/** Takes and releases the name. Resolves with the token, which must be larger than the last one. */
async function nextToken(trial: StoreTrial, client: LeaseStore, last: bigint): Promise<bigint> {
  const grant = await trial.granted(client)
  assert(grant.fencingToken > last, `${grant.fencingToken} after ${last}`)
  await client.release(grant, trial.call)
  return grant.fencingToken
}

export const storeFencingLaws: readonly StoreLaw[] = [
  ...storeLawsOf('fencing', [], {
    async 'tokens grow with every grant, over releases and among clients'(trial) {
      const clients = [await trial.open(), await trial.open(), await trial.open()]
      let last = -1n
      for (let round = 0; round < 4; round += 1) {
        for (const client of clients) last = await nextToken(trial, client, last)
      }
    },
    async 'tokens grow over an expiry'(trial, client) {
      const grant = await trial.granted(client)
      await trial.expire(client)
      assert((await trial.granted(client)).fencingToken > grant.fencingToken)
    },
    async 'a heartbeat changes no token'(trial, client) {
      const grant = await trial.granted(client)
      for (let beats = 0; beats < 3; beats += 1) await client.renew(grant, trial.call)
      assert.equal((await trial.read(client))?.fencingToken, grant.fencingToken)
    },
    async 'a released grant id is granted again under a larger token'(trial, client) {
      const grant = await trial.granted(client, { grantId: trial.guid('again') })
      await client.release(grant, trial.call)
      assert((await trial.granted(client, { grantId: trial.guid('again') })).fencingToken > grant.fencingToken)
    },
    async 'an expired grant id is granted again under a larger token'(trial, client) {
      const grant = await trial.granted(client, { grantId: trial.guid('again') })
      await trial.expire(client)
      const again = await trial.granted(client, { grantId: trial.guid('again') })
      assert(again.fencingToken > grant.fencingToken, `${again.fencingToken} after ${grant.fencingToken}`)
    },
  }),
  ...storeLawsOf('fencing', ['deletion'], {
    async 'tokens grow over the deletion of a free name'(trial, client) {
      let last = -1n
      for (let round = 0; round < 3; round += 1) {
        last = await nextToken(trial, client, last)
        await trial.pass(10)
        await trial.delete()
      }
    },
    async 'tokens grow over the deletion of a held name'(trial, client) {
      const grant = await trial.granted(client)
      await trial.pass(10)
      await trial.delete()
      assert((await trial.granted(client)).fencingToken > grant.fencingToken)
    },
  }),
  ...storeLawsOf('fencing', ['restoration'], {
    async 'tokens do not repeat after an older record returns'(trial, client, other) {
      const first = await nextToken(trial, client, -1n)
      const putBack = await trial.copy()
      let last = await nextToken(trial, other, await nextToken(trial, client, first))
      for (const next of [client, other]) {
        await trial.pass(10)
        await putBack()
        last = await nextToken(trial, next, last)
      }
      await nextToken(trial, client, last)
    },
    async 'tokens do not repeat after an older record with a holder returns'(trial, client, other) {
      const grant = await trial.granted(client)
      const putBack = await trial.copy()
      await client.release(grant, trial.call)
      let last = await nextToken(trial, other, grant.fencingToken)
      await trial.pass(10)
      await putBack()
      await trial.expire(client, other)
      for (const by of [client, other]) last = await nextToken(trial, by, last)
    },
  }),
  ...grantedStoreLawsOf('fencing', ['restoration', 'change'], {
    async 'tokens do not repeat in a change after an older record returns'(trial, grant, client) {
      const putBack = await trial.copy()
      const passed = await changed(trial, client, grant)
      await trial.pass(10)
      await putBack()
      // A backend that keeps the holder apart from the record refuses the request: that is no grant either.
      const again = await client.change?.(grant, { grantId: trial.guid('last'), owner: 'last' }, trial.call)
      if (again?.granted !== true) return
      const { fencingToken } = again.grant
      assert(fencingToken > passed.fencingToken, `${fencingToken} after ${passed.fencingToken}`)
    },
  }),
  ...grantedStoreLawsOf('fencing', ['restart'], {
    async 'tokens grow over a restart of the backend'(trial, grant, client) {
      await client.release(grant, trial.call)
      await trial.backend.restart?.()
      const restarted = await trial.open()
      // A crash may lose the release, but not the grant.
      await trial.expire(restarted)
      assert((await trial.granted(restarted)).fencingToken > grant.fencingToken)
    },
  }),
  ...grantedStoreLawsOf('fencing', ['break'], {
    async 'tokens grow over a break'(trial, grant, client) {
      await client.break?.(trial.name, { period: 0 }, trial.call)
      assert((await trial.granted(client)).fencingToken > grant.fencingToken)
    },
  }),
]
