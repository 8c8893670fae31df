import assert from 'node:assert/strict'
import { LeaseUnavailableError } from '@leasehold/core'
import { type StoreLaw, storeLawsOf } from '../store-trial.js'

export const storeShutdownLaws: readonly StoreLaw[] = [
  ...storeLawsOf('shutdown', [], {
    async 'operations after close reject with a LeaseUnavailableError'(trial, client) {
      const grant = await trial.granted(client)
      await client.close()
      await assert.rejects(trial.acquire(client), LeaseUnavailableError)
      await assert.rejects(client.renew(grant, trial.call), LeaseUnavailableError)
      await assert.rejects(client.release(grant, trial.call), LeaseUnavailableError)
      await assert.rejects(trial.read(client), LeaseUnavailableError)
    },
    async 'close can be called twice'(_trial, client) {
      await client.close()
      await client.close()
    },
  }),
  ...storeLawsOf('shutdown', ['closing'], {
    async 'close aborts the signal for it before it resolves, and not earlier'(trial, client) {
      await trial.granted(client)
      assert.equal(client.closed?.aborted, false)
      const closing = client.close()
      assert.equal(client.closed?.aborted, true)
      await closing
    },
  }),
  ...storeLawsOf('shutdown', ['watch'], {
    async 'close ends the watches'(trial, client) {
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
    },
  }),
  ...storeLawsOf('shutdown', ['clients'], {
    async 'closing a client frees nothing that it holds, and ends no other client'(trial, one, other) {
      await trial.granted(one)
      await one.close()
      await trial.refused(other)
    },
  }),
]
