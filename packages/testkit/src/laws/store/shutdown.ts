import assert from 'node:assert/strict'
import { LeaseUnavailableError } from '@leasehold/core'
import { law, lawFor } from '../law.js'
import type { StoreLaw } from '../store-trial.js'

export const storeShutdownLaws: readonly StoreLaw[] = [
  law('shutdown', 'operations after close reject with a LeaseUnavailableError', async (trial) => {
    const client = await trial.open()
    const grant = await trial.granted(client)
    await client.close()
    await assert.rejects(trial.acquire(client), LeaseUnavailableError)
    await assert.rejects(client.renew(grant, trial.call), LeaseUnavailableError)
    await assert.rejects(client.release(grant, trial.call), LeaseUnavailableError)
    await assert.rejects(trial.read(client), LeaseUnavailableError)
  }),
  lawFor(
    ['closing'],
    'shutdown',
    'close aborts the signal for it before it resolves, and not earlier',
    async (trial) => {
      const client = await trial.open()
      await trial.granted(client)
      assert.equal(client.closed?.aborted, false)
      const closing = client.close()
      assert.equal(client.closed?.aborted, true)
      await closing
    },
  ),
  law('shutdown', 'close can be called twice', async (trial) => {
    const client = await trial.open()
    await client.close()
    await client.close()
  }),
  lawFor(['watch'], 'shutdown', 'close ends the watches', async (trial) => {
    const client = await trial.open()
    await trial.granted(client)
    const watching = (async () => {
      try {
        for await (const _ of client.watch?.(trial.name, trial.call) ?? []);
      } catch {
        // Ending with an error is an end too.
      }
    })()
    await trial.pass(trial.ttl / 100)
    await client.close()
    await trial.time.until(watching, trial.ttl)
  }),
  lawFor(
    ['clients'],
    'shutdown',
    'closing a client frees nothing that it holds, and ends no other client',
    async (trial) => {
      const [one, other] = [await trial.open(), await trial.open()]
      await trial.granted(one)
      await one.close()
      await trial.refused(other)
    },
  ),
]
