import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { afterAll, beforeAll } from 'vitest'
import { Azurite } from '../../../azure-blob/test/support/azurite.js'
import { granted, never } from '../../../azure-blob/test/support/claims.js'
import { blobsOn } from '../../../azure-blob/test/support/subjects.js'
import { describeAllRecipes } from '../support/all-recipes.js'

/** After as many rounds, a server and a client that have just started are compiled, and several times as fast. */
const FIRST_ROUNDS = 50

const CONTAINER = 'laws'

const azurite = await Azurite.start()
// The first grant of a trial need not create a container.
const store = blobsOn(azurite, CONTAINER)

beforeAll(async () => {
  const client = new AzureBlobLeaseStore(azurite.container(CONTAINER))
  const grant = await granted(client, 'first-rounds')
  for (let round = 0; round < FIRST_ROUNDS; round += 1) {
    await client.renew(grant, never)
    await client.update(grant, { round: String(round) }, never)
    await client.read('first-rounds', never)
  }
  await client.release(grant, never)
  await client.close()
})

afterAll(() => azurite.stop())

// A grant takes several requests, and waiters ask at intervals: the turnstile does not turn often enough for one of these.
const without = ['attempts without a wait that come at the same time get all free permits']
describeAllRecipes((recipe) => ({ ...recipe, store }), without)
