import assert from 'node:assert/strict'
import { LeaseUnavailableError } from '@leasehold/core'
import { grantedStoreLawsOf, type StoreLaw } from '../store-trial.js'

export const storeShutdownLaws: readonly StoreLaw[] = [
  ...grantedStoreLawsOf('shutdown', [], {
    async 'operations after close reject with a LeaseUnavailableError'(trial, grant, client) {
      await client.close()
      await assert.rejects(trial.acquire(client), LeaseUnavailableError)
      await assert.rejects(client.renew(grant, trial.call), LeaseUnavailableError)
      await assert.rejects(client.release(grant, trial.call), LeaseUnavailableError)
      await assert.rejects(trial.read(client), LeaseUnavailableError)
    },
    async 'close can be called twice'(_trial, _grant, client) {
      await client.close()
      await client.close()
    },
  }),
  ...grantedStoreLawsOf('shutdown', ['closing'], {
    async 'close aborts the signal for it before it resolves, and not earlier'(_trial, _grant, client) {
      assert.equal(client.closed?.aborted, false)
      const closing = client.close()
      assert.equal(client.closed?.aborted, true)
      await closing
    },
  }),
  ...grantedStoreLawsOf('shutdown', ['watch'], {
    async 'close ends the watches'(trial, _, client) {
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
  ...grantedStoreLawsOf('shutdown', ['clients'], {
    async 'closing a client frees nothing that it holds, and ends no other client'(trial, _, one, other) {
      await one.close()
      await trial.refused(other)
    },
  }),
]
