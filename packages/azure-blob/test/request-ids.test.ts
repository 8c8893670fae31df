import { afterAll, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { claimOf, never } from './support/claims.js'
import { Proxied } from './support/proxied.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

it('an error has the id of the request at the service, for its support', async (test) => {
  const { proxy, store } = await Proxied.open(test, azurite)
  proxy.behave(() => ({ kind: 'answer', status: 500, headers: { 'x-ms-request-id': 'id-7' } }))
  const failed = store.acquire(claimOf('job'), never)
  await expect(failed).rejects.toThrow('[x-ms-request-id id-7]')
  await expect(failed).rejects.toMatchObject({ name: 'LeaseUnavailableError', cause: { requestId: 'id-7' } })
})
